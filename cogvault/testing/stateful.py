"""A state machine that applies the same random changes to two indexes and compares everything they say.

    class LocalEqualsMemory(IndexMachine):
        def make_index(self, folder: Path) -> Index:
            return LocalIndex(folder)

    TestLocalEqualsMemory = LocalEqualsMemory.TestCase

Needs hypothesis. The oracle is ``MemoryIndex``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cogvault.indexes import MemoryIndex
from cogvault.protocols import Index, Snapshot
from cogvault.testing.records import ALL, DIM, found_chunks, identity, record, stamp, terms, vector_of
from cogvault.types import CardRecord, ChangeSet, Filter, VectorBatch

# Few ids and few texts, so that cards are replaced often and texts move between them.
_IDS = st.sampled_from(["a.md", "b.md", "notes/a.md", "notes/b.md", "notes/deep/a.md"])
_WORDS = "payment payments repayment svc_payments POL-358 getUserName база бази даних 设备清单 ราคา hello café x y"
_TEXTS = st.lists(st.sampled_from(_WORDS.split(" ")), max_size=4).map(" ".join)
_MODELS = {"model-1": DIM, "model-2": 2 * DIM}
_FILTERS = st.sampled_from(
    [
        ALL,
        Filter(paths=("notes",)),
        Filter(types=frozenset({"project"})),
        Filter(without=frozenset({"a.md", "notes/b.md"})),
    ]
)


@st.composite
def _records(draw: st.DrawFn) -> CardRecord:
    return record(
        draw(_IDS),
        *draw(st.lists(_TEXTS, max_size=12)),
        day=draw(st.integers(0, 5)),
        type=draw(st.sampled_from([None, "project", "user"])),
        title=draw(st.sampled_from(["", "payment notes", "y"])),
        abstract=draw(_TEXTS),
    )


class IndexMachine(RuleBasedStateMachine):
    """Override ``make_index``; it is called again with the same folder to open an index that was closed."""

    def make_index(self, folder: Path) -> Index:
        """The index to hold against the oracle."""
        raise NotImplementedError

    @initialize()
    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._index = self.make_index(Path(self._folder.name) / "index")
        self._oracle = MemoryIndex()
        self._apply(ChangeSet(identity=identity()))

    @rule(put=st.lists(_records(), max_size=4), remove=st.lists(_IDS, max_size=3))
    def change(self, put: list[CardRecord], remove: list[str]) -> None:
        self._apply(ChangeSet(put=tuple(put), remove=tuple(remove)))

    @rule(id=_IDS, number=st.integers(0, 1000))
    def restamp(self, id: str, number: int) -> None:
        self._apply(ChangeSet(restamp={id: stamp(number)}))

    @rule(model=st.sampled_from(sorted(_MODELS)), limit=st.integers(1, 40), flip=st.booleans())
    def embed(self, model: str, limit: int, flip: bool) -> None:
        waiting = self._oracle.snapshot().pending(model, limit)[:: -1 if flip else 1]
        if waiting:
            rows = np.array([vector_of(stored.chunk.embed_text, _MODELS[model]) for stored in waiting])
            chunks = np.array([stored.id for stored in waiting])
            self._apply(ChangeSet(vectors=VectorBatch(model, chunks, rows)))

    @rule(model=st.sampled_from(sorted(_MODELS)), put=st.lists(_records(), max_size=2))
    def switch_model(self, model: str, put: list[CardRecord]) -> None:
        self._apply(ChangeSet(put=tuple(put), identity=identity(model, _MODELS[model])))

    @rule()
    def reopen(self) -> None:
        self._index.close()
        self._index = self.make_index(Path(self._folder.name) / "index")

    @rule(query=_TEXTS, filter=_FILTERS, limit=st.integers(1, 30), window=st.integers(0, 3))
    def search(self, query: str, filter: Filter, limit: int, window: int) -> None:
        one, two = self._index.snapshot(), self._oracle.snapshot()
        wanted, vector = terms(query), vector_of(query, one.stats.identity.dim)
        for mine, other in (
            (one.keyword(wanted, filter, limit), two.keyword(wanted, filter, limit)),
            (one.semantic(vector, filter, limit), two.semantic(vector, filter, limit)),
        ):
            assert found_chunks(one, mine) == found_chunks(two, other)
            np.testing.assert_array_equal(mine.scores, other.scores)
        assert_same_evidence(one, two, query, window)

    @invariant()
    def same_content(self) -> None:
        assert_same_content(self._index.snapshot(), self._oracle.snapshot())

    def teardown(self) -> None:
        if hasattr(self, "_index"):
            assert self._index.verify() == []
            self._index.close()
            self._folder.cleanup()

    def _apply(self, change: ChangeSet) -> None:
        assert self._index.apply(change) == self._oracle.apply(change)


def assert_same_content(one: Snapshot, two: Snapshot) -> None:
    """Two snapshots hold the same cards, texts and vectors."""
    assert list(one.cards) == list(two.cards)
    for name in ("sequence", "cards", "chunks", "vectors", "embeddable", "identity"):
        assert getattr(one.stats, name) == getattr(two.stats, name), name
    ids = [card.id for card in one.cards]
    assert one.layers(ids) == two.layers(ids)
    for model in _MODELS:
        assert one.pending(model, 1000) == two.pending(model, 1000)
    for id in ids:
        assert one.of_card(id) == two.of_card(id)


def assert_same_evidence(one: Snapshot, two: Snapshot, query: str, window: int) -> None:
    """Two snapshots of the same content say the same of their chunks, bit for bit."""
    chunks = np.array([stored.id for card in one.cards for stored in one.of_card(card.id)][::-2], np.int64)
    wanted, vector = terms(query), vector_of(query, one.stats.identity.dim)
    mine, other = (snapshot.evidence(chunks, wanted, vector, window) for snapshot in (one, two))
    for name in ("cards", "positions", "chunk_frequency", "card_frequency", "chunk_count", "card_count"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name), name)
    for layer in ("detail", "window", "card"):
        for name in ("counts", "lengths", "mean_length", "cosines"):
            np.testing.assert_array_equal(
                getattr(getattr(mine, layer), name), getattr(getattr(other, layer), name), f"{layer}.{name}"
            )
