from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.indexing.chunking import TokenBudget, chunk_card
from cogvault.types import Card, Chunk, ChunkKind

_LINES = st.one_of(
    st.sampled_from([
        "", "", "  ", "# Heading", "## Sub", "###", "Setext\n===", "text", "A sentence. And more!", "- item",
        "  - sub", "1. one", "> quote", "```", "~~~", "    code", "| a | b |", "|---|---|", "---",
        "**Ana** (2023-05-08): yesterday", "**Bob**：好的。", "word " * 80, "x" * 400, "a" + " " * 300 + "b",
        "好" * 120, "One. " * 60, "नि" * 90, "👩‍💻" * 40, "\t\t", "\ufeff", "\x0c",
    ]),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=60),
)  # fmt: skip
_BODIES = st.lists(_LINES, max_size=25).map("\n".join)
_COUNTERS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "words": lambda text: len(text.split()),
}


def _budget(counter: str, max_tokens: int, target_tokens: int) -> TokenBudget:
    measure = _COUNTERS[counter]

    def count(texts: Sequence[str]) -> list[int]:
        return [measure(text) for text in texts]

    return TokenBudget(max_tokens, count, lambda text: 4 * len(text), target_tokens)


def _chunks(body: str, budget: TokenBudget, front: str = "") -> tuple[Card, tuple[Chunk, ...]]:
    card = MarkdownCardParser().parse((front + body).encode(), id="a b/c.md", path="a b/c.md")
    return card, chunk_card(card, budget=budget)


@given(_BODIES, st.sampled_from(sorted(_COUNTERS)), st.integers(16, 200), st.integers(1, 100))
def test_every_line_is_in_exactly_one_chunk_or_made_up_by_its_parts(
    body: str, counter: str, max_tokens: int, target_tokens: int
) -> None:
    card, found = _chunks(body, _budget(counter, max_tokens, target_tokens), "---\ntitle: T\n---\n")
    lines = card.body.split("\n")
    parts: dict[int, list[str]] = {}
    last = card.body_line - 1
    for chunk in found[1:]:
        covered = lines[chunk.start_line - card.body_line : chunk.end_line - card.body_line + 1]
        if chunk.text == "\n".join(covered):
            assert chunk.start_line > last
            for index in range(chunk.start_line, chunk.end_line + 1):
                parts[index] = [lines[index - card.body_line]]
        else:
            assert chunk.start_line == chunk.end_line >= last
            parts.setdefault(chunk.start_line, []).append(chunk.text)
        last = chunk.end_line
    for number, line in enumerate(lines, card.body_line):
        if line.strip():
            # Long runs of blanks may be left out between the parts of a line.
            assert "".join("".join(parts[number]).split()) == "".join(line.split())


@given(_BODIES, st.sampled_from(sorted(_COUNTERS)), st.integers(16, 200), st.integers(1, 100), st.text(max_size=80))
def test_no_text_for_the_model_is_over_its_budget(
    body: str, counter: str, max_tokens: int, target_tokens: int, title: str
) -> None:
    budget = _budget(counter, max_tokens, target_tokens)
    front = f"---\ntitle: '{title.translate({39: None, 0: None})}'\ndescription: {'words ' * 50}\n---\n"
    _, found = _chunks(body, budget, front)
    assert [n for n in budget.count([chunk.embed_text for chunk in found]) if n > max_tokens] == []


@given(_BODIES, st.integers(16, 100))
def test_chunks_are_numbered_in_order_and_searchable(body: str, max_tokens: int) -> None:
    _, found = _chunks(body, _budget("characters", max_tokens, 20))
    assert [chunk.position for chunk in found] == list(range(len(found)))
    assert found[0].kind is ChunkKind.HEAD
    for chunk in found[1:]:
        assert chunk.text.strip()
        assert chunk.terms_text.strip()
        assert (chunk.kind is ChunkKind.TURN) == (chunk.speaker is not None)
        assert chunk.start_line <= chunk.end_line
    assert all(chunk.embed_text.strip() or not chunk.embed_text for chunk in found)


@given(_BODIES)
def test_same_card_gives_same_chunks(body: str) -> None:
    budget = _budget("words", 64, 32)
    assert _chunks(body, budget) == _chunks(body, budget)


@pytest.mark.parametrize("body", [
    "word " * 400_000, "x" * 2_000_000, "漢" * 300_000, "a" + "\u0301" * 300_000, ">" * 500_000, "- " * 200_000,
    "```\n" * 50_000, "|a" * 300_000, ". " * 100_000, "# h\n" * 10_000, "**A**: last Friday\n" * 10_000,
])  # fmt: skip
def test_hostile_bodies_take_linear_time(body: str) -> None:
    # Quadratic work on these takes minutes and ends in the suite's timeout.
    _, found = _chunks(body, TokenBudget(500, lambda texts: [len(text) // 3 for text in texts], len))
    assert len(found) > 10
