"""The contract of ``cogvault.protocols.Index``, as tests to inherit.

    class TestMyIndex(IndexContract):
        def make_index(self, folder: Path) -> Index:
            return MyIndex(folder)

Needs pytest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cogvault.errors import IndexFault
from cogvault.protocols import Index
from cogvault.testing.index_changes import ChangeContract
from cogvault.testing.index_search import SearchContract
from cogvault.testing.records import ALL, embedded, identity, record, terms, vector_of
from cogvault.types import ChangeSet, ChunkKind


class IndexContract(ChangeContract, SearchContract):
    """Checks of any index. Override ``make_index``; each call is for a new, empty folder or opens one again."""

    def make_index(self, folder: Path) -> Index:
        """An index; implementations that keep nothing in files may ignore the folder."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[Index]:
        index = self.make_index(tmp_path / "index")
        yield index
        index.close()

    def test_threads_may_share_an_index(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "first text"),), identity=identity()))
        stop = threading.Event()

        def read() -> int:
            seen = 0
            while not stop.is_set():
                snapshot = index.snapshot()
                (info,) = snapshot.cards
                texts = [stored.chunk.text for stored in snapshot.of_card("a.md")[1:]]
                assert info.hash == record("a.md", *texts).hash
                found = snapshot.keyword(terms("text"), ALL, 5)
                assert [stored.chunk.text for stored in snapshot.chunks(found.chunks.tolist())] == texts
                snapshot.evidence(found.chunks, terms("text"), vector_of("text"), 1)
                seen += 1
            return seen

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            for number in range(15):
                index.apply(ChangeSet(put=(record("a.md", f"text number {number}"),)))
                embedded(index)
            stop.set()
            assert all(reader.result() > 0 for reader in readers)

    def test_a_closed_index_says_so(self, index: Index) -> None:
        index.close()
        index.close()
        with pytest.raises(IndexFault, match="closed"):
            index.snapshot()
        with pytest.raises(IndexFault, match="closed"):
            index.apply(ChangeSet())

    def test_head_chunks_are_marked(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),)))
        assert [stored.chunk.kind for stored in index.snapshot().of_card("a.md")] == [ChunkKind.HEAD, ChunkKind.TEXT]
