"""The turn that answers a question, found without the rest of its card."""

from __future__ import annotations

import pytest

from cogvault.indexes.memory import MemorySnapshot
from cogvault.types import StoredChunk
from tests.retrieval.world import World, rankers

TURNS = (
    ("Ana", "Which port has the wombat?"),
    ("Bo", "It has 7443."),
    ("Ana", "Does the marmot sleep?"),
    ("Ana", "I forgot."),
    ("Bo", "And the badger, where is it?"),
)


def dialogue(*turns: tuple[str, str]) -> str:
    return "# Talk\n\n" + "\n\n".join(f"**{speaker}**: {text}" for speaker, text in turns)


@pytest.fixture
def world() -> World:
    files = {"a.md": dialogue(*TURNS), "b.md": dialogue(("Ana", "Nothing."), ("Cleo", "Something."))}
    return World(files, embedder=None, rankers=rankers("keyword"))


@pytest.mark.parametrize(
    ("asked", "is_answered"),
    [
        ("wombat port", True),
        ("marmot sleep", False),  # the same speaker goes on
        ("badger where", False),  # the last of its card: what is behind it is another card's
    ],
)
def test_only_the_turn_behind_a_question_is_read(
    asked: str, is_answered: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole_card(self: MemorySnapshot, id: str) -> list[StoredChunk]:
        raise AssertionError(f"all of {id} was read")

    monkeypatch.setattr(MemorySnapshot, "of_card", whole_card)
    hit = world.search(asked, k=1)[0]
    assert hit.text.endswith("?")
    assert ("7443" in hit.reply) is bool(hit.reply) is is_answered
    packed = world.search(asked, k=1, budget_tokens=200).text
    assert ("7443" in packed) is is_answered
    assert "I forgot" not in packed
