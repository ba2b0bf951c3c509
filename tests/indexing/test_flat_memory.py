"""Embedding takes no more memory the longer it lasts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from cogvault.embedders import CachedEmbedder
from cogvault.indexes import LocalIndex
from cogvault.types import FloatArray
from tests.indexing.support import Desk, SpyEmbedder

CARDS = 60
PASSAGES = 40
# A pass is 2,400 vectors of 384 float32: 3.7 MB, of which no pass may keep a tenth.
DIM = 384
FILES = 1000
ROOM_BYTES = CARDS * PASSAGES * DIM * 4 // 10


class Forgetful(SpyEmbedder):
    """Keeps no texts, which would grow."""

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        rows = super().embed_documents(texts)
        self.texts.clear()
        return rows


@pytest.fixture
def desk(vault: Path, tmp_path: Path) -> Desk:
    desk = Desk(vault, LocalIndex(tmp_path / "index"), vector_batch=64)
    for card in range(CARDS):
        desk.write(f"{card}.md", "\n\n".join(f"passage {card} {number} alpha beta" for number in range(PASSAGES)))
    return desk


def test_later_passes_keep_nothing_and_have_no_higher_peak(desk: Desk, tmp_path: Path) -> None:
    held: list[int] = []
    peaks: list[int] = []
    tracemalloc.start()
    try:
        for name in ("a", "bb", "ccc", "dddd"):
            desk.embedder = CachedEmbedder(Forgetful(name, DIM), tmp_path / "vectors.sqlite")
            tracemalloc.reset_peak()
            report = desk.sync()
            assert report.embedded == CARDS * (PASSAGES + 1)
            desk.index.snapshot()
            now, peak = tracemalloc.get_traced_memory()
            held.append(now)
            peaks.append(peak)
    finally:
        tracemalloc.stop()
    # The first pass also indexes the cards.
    assert max(held[1:]) - held[0] < ROOM_BYTES
    assert max(peaks[2:]) - peaks[1] < ROOM_BYTES


def test_a_look_at_files_that_are_as_they_were_keeps_little_of_each(vault: Path, tmp_path: Path) -> None:
    desk = Desk(vault, LocalIndex(tmp_path / "index"))
    for card in range(FILES):
        desk.write(f"a card with a name of some length {card}.md", "text")
    desk.sync()
    list(desk.index.snapshot().cards)
    desk.sync()
    tracemalloc.start()
    try:
        desk.sync()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A stamp alone is 200 bytes, a path 100.
    assert peak - held < FILES * 200
