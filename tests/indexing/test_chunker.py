from __future__ import annotations

import base64
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexing.chunker import chunker_for, costly_characters, likely_bound
from cogvault.types import Card
from tests.indexing.support import Desk, SpyEmbedder, unavailable

PROSE = "The export was slow because every row took a lock of its own. " * 40


class CountingEmbedder(SpyEmbedder):
    """Counts how often it is asked to count; a token is a word."""

    def __init__(self, name: str = "spy") -> None:
        super().__init__(name)
        self.counted: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        self.counted += texts
        if self.error is not None:
            raise self.error
        return [len(text.split()) for text in texts]


def card(body: str) -> Card:
    return Card("a.md", "a.md", "A title of some length", f"# Heading\n\n{body}")


def test_text_of_usual_length_is_not_counted_exactly() -> None:
    embedder = CountingEmbedder()
    lines = "\n\n".join(PROSE[start : start + 600] for start in range(0, 2400, 600))
    assert len(chunker_for(embedder, 200).chunk(card(lines))) >= 4
    assert embedder.counted == []


def test_text_near_the_window_is_counted_in_the_models_tokens() -> None:
    embedder = CountingEmbedder()
    chunker_for(embedder, 200).chunk(card(PROSE))
    assert embedder.counted


def test_chunks_are_made_without_a_model_that_cannot_be_had() -> None:
    embedder = CountingEmbedder()
    embedder.error = unavailable()
    chunker = chunker_for(embedder, 200)
    assert chunker.chunk(card(PROSE)) == chunker_for(None, 200).chunk(card(PROSE))
    assert len(embedder.counted) == 1


def test_a_model_that_cannot_tell_its_window_is_none() -> None:
    class Nameless(SpyEmbedder):
        @property
        def max_tokens(self) -> int:  # type: ignore[override]
            raise unavailable()

    chunker, none = chunker_for(Nameless(), 200), chunker_for(None, 200)
    assert chunker.chunk(card(PROSE)) == none.chunk(card(PROSE))
    assert chunker.fingerprint("p") == none.fingerprint("p")
    assert chunker.accepts(chunker_for(SpyEmbedder("one"), 200).fingerprint("p"), "p")


@pytest.mark.parametrize("seed", range(5))
def test_data_is_not_taken_for_prose(seed: int) -> None:
    data = random.Random(seed).randbytes(600)
    for text in (data.hex(), base64.b64encode(data).decode(), " ".join(map(str, data))):
        assert likely_bound(text) > len(text) // 2


def test_a_model_or_its_window_makes_other_chunks_but_any_will_do_without_one() -> None:
    none, one, other = (
        chunker_for(None, 200),
        chunker_for(SpyEmbedder("one"), 200),
        chunker_for(SpyEmbedder("two"), 200),
    )
    assert one.accepts(one.fingerprint("p"), "p")
    assert not one.accepts(other.fingerprint("p"), "p")
    assert not one.accepts(none.fingerprint("p"), "p")
    assert none.accepts(one.fingerprint("p"), "p")
    assert not none.accepts(one.fingerprint("other parser"), "p")
    assert not none.accepts(chunker_for(None, 100).fingerprint("p"), "p")
    assert not none.accepts("", "p")


def test_a_program_without_the_model_leaves_the_chunks_of_one_that_has_it(vault: Path) -> None:
    desk = Desk(vault, chunker=None, embedder=SpyEmbedder())
    desk.write("a.md", PROSE)
    desk.sync()
    identity = desk.index.snapshot().stats.identity
    desk.embedder = None
    desk.write("b.md", "beta")
    report = desk.sync()
    assert (report.added, report.refreshed) == (("b.md",), 0)
    assert desk.index.snapshot().stats.identity == identity


def test_a_model_that_comes_later_makes_its_own_chunks_once(vault: Path) -> None:
    desk = Desk(vault, chunker=None)
    desk.write("a.md", PROSE)
    desk.sync()
    desk.embedder = SpyEmbedder()
    assert desk.sync().refreshed == 1
    assert desk.sync().refreshed == 0


@given(st.text() | st.text("ab1- \n\u00a0\u2003\x1c\u0667ж", max_size=80))
def test_costly_characters_are_counted_the_fast_way_as_the_plain_one(text: str) -> None:
    plain = re.sub(r"[^\w\s]|\d|\S{25,}", "", text)
    assert costly_characters(text) == len(text) - len(plain)
