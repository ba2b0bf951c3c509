"""How common a word is follows the cards that are there, whatever the keyword folder still or not yet holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local.lexical import Document, Lexical, Wanted
from cogvault.protocols import Snapshot
from cogvault.testing.records import ALL, identity, record, terms
from cogvault.types import CardRecord, ChangeSet

CHUNKS, ONE, OTHER = 6500, 70, 85
QUESTION = terms("zebrafinch quokkalump")


def cards() -> tuple[CardRecord, ...]:
    """So many chunks that the engine alone proposes candidates; two of their words are nearly as rare as each other."""
    words = ["zebrafinch"] * ONE + ["quokkalump"] * OTHER + ["otherthing"] * (CHUNKS - ONE - OTHER)
    texts = [f"{word} met the payment service" for word in words]
    return tuple(record(f"old/{at:05}.md", *texts[at : at + 50], title="t") for at in range(0, CHUNKS, 50))


def more(folder: str, number: int, chunks: int) -> tuple[CardRecord, ...]:
    texts = ["zebrafinch met the payment service"] * chunks
    return tuple(record(f"{folder}/{at}.md", *texts, title="t") for at in range(number))


def best(snapshot: Snapshot, limit: int) -> list[tuple[str, int, float]]:
    found = snapshot.keyword(QUESTION, ALL, limit)
    chunks = snapshot.chunks(found.chunks.tolist())
    return [(each.card, each.chunk.position, score) for each, score in zip(chunks, found.scores.tolist(), strict=True)]


def anew(folder: Path, *put: CardRecord) -> LocalIndex:
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=put, identity=identity()))
    return index


@pytest.mark.parametrize("limit", [3, 100])
def test_cards_that_wait_make_a_word_more_common(tmp_path: Path, limit: int) -> None:
    old, new = cards(), more("new", 2, 30)
    index = anew(tmp_path / "one", *old)
    for each in new:
        index.apply(ChangeSet(put=(each,)))
    assert index.snapshot().is_waiting
    assert best(index.snapshot(), limit) == best(anew(tmp_path / "two", *old, *new).snapshot(), limit)


@pytest.mark.parametrize("limit", [3, 100])
def test_cards_that_are_gone_make_a_word_rarer(tmp_path: Path, limit: int) -> None:
    old, gone = cards(), more("gone", 30, 50)
    index = anew(tmp_path / "one", *old, *gone)
    index.apply(ChangeSet(remove=tuple(each.card.id for each in gone)))
    assert best(index.snapshot(), limit) == best(anew(tmp_path / "two", *old).snapshot(), limit)


def test_the_engine_counts_a_term_for_as_rare_as_it_is_told(tmp_path: Path) -> None:
    # How many chunks hold a stem is estimated from its words, which may stand together: the engine's own count differs.
    folder = Lexical.create(tmp_path / "keyword", "a")
    folder.write([], [Document(each, each, str(each), "", "") for each in (1, 2)], 1, threads=1)
    for rare, common in ((1, 2), (2, 1)):
        wanted = [Wanted("exact", rare, 1.0, 5.0), Wanted("exact", common, 1.0, 1.0)]
        chunks, scores = folder.view.search(wanted, 5, None)
        assert chunks.tolist() == [rare, common]
        assert scores[0] / scores[1] == pytest.approx(5.0, rel=1e-3)
