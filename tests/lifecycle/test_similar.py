"""Cards that need not be read are left out, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.lifecycle import similar
from cogvault.lifecycle.record import Recorder
from cogvault.protocols import Snapshot
from cogvault.retrieval.turns import Turns
from cogvault.text.likeness import Overlap, likeness, overlap, print_of
from cogvault.types import Draft
from tests.lifecycle import likeness_pairs
from tests.lifecycle.test_record import Shelf

_TEXTS = [text for pair in (*likeness_pairs.NEAR, *likeness_pairs.APART) for text in pair]
_WORDS = st.lists(st.sampled_from(["a", "the", "deploy", "deploys", "POL-358", "v1.2", "設備", "Tuesday"]), max_size=12)


@given(_WORDS, _WORDS, _WORDS)
def test_a_part_of_a_text_bounds_how_alike_the_whole_can_be(one: list[str], part: list[str], rest: list[str]) -> None:
    words, text = print_of(" ".join(one)), " ".join(part)
    if words.weights:
        found = overlap(words, text)
        assert likeness(words, print_of(text)) <= found.likeness(is_all=True) + 1e-9
        assert likeness(words, print_of(" ".join([*part, *rest]))) <= found.likeness(is_all=False) + 1e-9
        assert 0 <= found.share <= 1
    assert overlap(print_of(text), text).likeness(is_all=True) == (1 if part else 0)


@pytest.mark.parametrize(("one", "other"), likeness_pairs.NEAR)
def test_a_card_in_the_index_that_says_nearly_the_same_is_found(tmp_path: Path, one: str, other: str) -> None:
    shelf = Shelf(tmp_path)
    first = shelf.recorder.record(Draft(one, "First"))
    shelf.sync()
    again = Recorder(shelf.workspace(), shelf.index.snapshot)
    assert [card.id for card in again.record(Draft(other, "Second")).similar] == [first.id]


def test_the_same_is_found_as_when_all_candidates_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(tmp_path)
    for number, text in enumerate(_TEXTS):
        (shelf.root / f"{number}.md").write_text(f"# Heading {number}\n\n{text}\n" if number % 3 else text)
    known = shelf.sync()
    found = []
    for _ in range(2):
        cards = similar.SimilarCards(shelf.workspace(), lambda: known)
        found.append([cards.look(text, print_of(text), "") for text in _TEXTS])
        monkeypatch.setattr(similar, "overlap", lambda words, text: Overlap(1.0, 1.0, 1.0))
    assert found[0] == found[1]
    assert any(each.near for each in found[0])


class Counted(Sequence[Any]):
    """Cards, and how many of them were looked at."""

    def __init__(self, ids: list[str]) -> None:
        self.cards = [SimpleNamespace(id=id, path=id) for id in ids]
        self.looks = 0

    def __len__(self) -> int:
        return len(self.cards)

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return self.cards[place]


def test_names_of_a_folder_are_found_without_a_look_at_all_cards(tmp_path: Path) -> None:
    cards = Counted([*(f"a/{number:04}.md" for number in range(1000)), "b/c/d.md", "b/e.md", "b/f.md", "g.md"])
    known: Any = SimpleNamespace(cards=cards)
    assert similar.SimilarCards(Shelf(tmp_path).workspace(), lambda: known).names_in("b") == {"e.md", "f.md"}
    assert cards.looks < 20


class Told(Turns):
    """Turns that tell whether one is taken."""

    def __init__(self) -> None:
        super().__init__(1)
        self.is_taken = False

    def __enter__(self) -> None:
        super().__enter__()
        self.is_taken = True

    def __exit__(self, *error: Any) -> None:
        self.is_taken = False
        super().__exit__(*error)


def test_cards_that_are_alike_are_looked_for_in_turn_but_not_the_files(tmp_path: Path) -> None:
    shelf, turns, seen = Shelf(tmp_path), Told(), list[bool]()

    def known() -> Snapshot:
        seen.append(turns.is_taken)
        return shelf.index.snapshot()

    similar.SimilarCards(replace(shelf.workspace(), turns=turns), known).look("A text.", print_of("A text."), "")
    assert seen[0] is False, "the first time the files are looked at, which may take long"
    assert True in seen[1:]
    assert not turns.is_taken
