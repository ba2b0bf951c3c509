"""MemoryIndex: exact and simple. The oracle that other indexes are held against, and an index for small vaults."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from cogvault.errors import IndexFault, SnapshotExpired
from cogvault.indexes import bm25, int8
from cogvault.indexes.filters import mask
from cogvault.indexes.infos import card_info, check_batch, latest, restamped
from cogvault.indexes.int8 import Int8Array
from cogvault.text.tokens import grams, stem, words
from cogvault.types import (
    CardInfo,
    CardLayers,
    CardRecord,
    ChangeSet,
    Evidence,
    Filter,
    FloatArray,
    IndexIdentity,
    IndexStats,
    IntArray,
    KnownFile,
    LayerEvidence,
    Ranking,
    Stamp,
    StoredChunk,
    Term,
    TermKind,
    VectorBatch,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One chunk, its words, and how often each term stands in it."""

    stored: StoredChunk
    words: frozenset[str]
    counts: Counter[tuple[TermKind, str]]
    length: int


@dataclass(frozen=True, slots=True)
class _Entry:
    """One card and its chunks."""

    info: CardInfo
    record: CardRecord
    rows: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """Everything at one sequence number. Replaced by each change, never written to."""

    sequence: int = 0
    next_chunk: int = 1
    identity: IndexIdentity = field(default_factory=IndexIdentity)
    entries: Mapping[str, _Entry] = field(default_factory=dict)
    vectors: Mapping[str, Mapping[int, Int8Array]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class MemoryIndex:
    """Implements ``Index`` in this process's memory; nothing is written anywhere."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshot: MemorySnapshot | None = MemorySnapshot(_State())

    def apply(self, change: ChangeSet) -> int:
        """See ``Index.apply``."""
        with self._lock:
            state = _applied(self._current.state, change)
            self._snapshot = MemorySnapshot(state)
            return state.sequence

    def snapshot(self) -> MemorySnapshot:
        """See ``Index.snapshot``."""
        return self._current

    def verify(self) -> list[str]:
        """Memory has no faults of its own."""
        return []

    def repair(self, progress: Callable[[int, int], None]) -> None:
        """Nor is there anything to repair."""

    def reset(self, fault: str) -> None:
        """See ``Index.reset``."""
        with self._lock:
            notes = (*self._current.state.notes, f"the index was emptied: {fault}")
            self._snapshot = MemorySnapshot(_State(notes=notes))

    def close(self) -> None:
        """Forget everything."""
        self._snapshot = None

    @property
    def _current(self) -> MemorySnapshot:
        snapshot = self._snapshot
        if snapshot is None:
            raise IndexFault("the index is closed")
        return snapshot


def _applied(state: _State, change: ChangeSet) -> _State:
    records = latest(change.put)
    entries = dict(state.entries)
    gone = [
        entry
        for id in dict.fromkeys([*change.remove, *(record.card.id for record in records)])
        if (entry := entries.pop(id, None)) is not None
    ]
    next_chunk = state.next_chunk
    made: list[_Row] = []
    for record in records:
        entry = _entry(record, next_chunk)
        entries[record.card.id] = entry
        made.extend(entry.rows)
        next_chunk += len(entry.rows)
    for id, stamp in change.restamp.items():
        if id in entries:
            entries[id] = _restamped(entries[id], stamp)
    identity = change.identity or state.identity
    kept = {
        model: _inherited(vectors, gone, made)
        for model, vectors in state.vectors.items()
        if change.identity is None or model == identity.model
    }
    if change.vectors is not None:
        check_batch(change.vectors, identity, _dim(kept.get(change.vectors.model, {})))
        _add(kept, change.vectors, {row.stored.id for entry in entries.values() for row in entry.rows})
    vectors = {model: rows for model, rows in kept.items()}
    return _State(state.sequence + 1, next_chunk, identity, entries, vectors, state.notes)


def _entry(record: CardRecord, first: int) -> _Entry:
    rows = []
    for chunk in record.chunks:
        found = words(chunk.terms_text)
        counts: Counter[tuple[TermKind, str]] = Counter()
        for word in found:
            counts.update((kind, form) for kind in TermKind for form in _forms(word, kind))
        stored = StoredChunk(first + chunk.position, record.card.id, chunk)
        rows.append(_Row(stored, frozenset(found), counts, len(found)))
    return _Entry(card_info(record), record, tuple(rows))


def _forms(word: str, kind: TermKind) -> tuple[str, ...]:
    """The terms of one kind that a word counts for."""
    if kind is TermKind.EXACT:
        return (word,)
    return (stem(word),) if kind is TermKind.STEM else grams(word)


def _restamped(entry: _Entry, stamp: Stamp) -> _Entry:
    return replace(entry, info=restamped(entry.info, entry.record.card.dated, stamp))


def _inherited(vectors: Mapping[int, Int8Array], gone: list[_Entry], made: list[_Row]) -> dict[int, Int8Array]:
    """Vectors without those of the cards that are gone, and with theirs for new chunks of the same text."""
    by_text: dict[str, Int8Array] = {}
    kept = dict(vectors)
    for entry in gone:
        for row in entry.rows:
            vector = kept.pop(row.stored.id, None)
            if vector is not None:
                by_text.setdefault(row.stored.chunk.embed_text, vector)
    kept.update(
        (row.stored.id, by_text[row.stored.chunk.embed_text]) for row in made if row.stored.chunk.embed_text in by_text
    )
    return kept


def _add(vectors: dict[str, dict[int, Int8Array]], batch: VectorBatch, alive: set[int]) -> None:
    rows = vectors.setdefault(batch.model, {})
    for chunk, row in zip(batch.chunks.tolist(), int8.quantise(batch.vectors), strict=True):
        if chunk in alive:
            rows.setdefault(chunk, row)


def _dim(vectors: Mapping[int, Int8Array]) -> int:
    return next((len(row) for row in vectors.values()), 0)


class MemorySnapshot:
    """Implements ``Snapshot`` by looking at everything."""

    def __init__(self, state: _State) -> None:
        self.state = state

    @property
    def stats(self) -> IndexStats:
        """See ``Snapshot.stats``."""
        return IndexStats(
            sequence=self.state.sequence,
            cards=len(self.cards),
            chunks=len(self._rows),
            vectors=len(self._vectors),
            embeddable=sum(bool(row.stored.chunk.embed_text) for row in self._rows.values()),
            identity=self.state.identity,
            notes=self.state.notes,
        )

    @cached_property
    def cards(self) -> Sequence[CardInfo]:
        """See ``Snapshot.cards``."""
        return tuple(entry.info for entry in self._entries)

    @property
    def files(self) -> Mapping[str, KnownFile]:
        """See ``Snapshot.files``."""
        return {card.id: KnownFile(card.path, card.stamp, card.hash) for card in self.cards}

    def keyword(self, terms: Sequence[Term], filter: Filter, limit: int) -> Ranking:
        """See ``Snapshot.keyword``; chunks that hold no term are left out."""
        keys = [(term.kind, term.text) for term in terms if term.weight > 0]
        rows = [row for row in self._passing(filter) if any(key in row.counts for key in keys)]
        if not rows or limit <= 0:
            return _ranking([], [], 0)
        layer = self._layer([[row] for row in rows], self._rows_alone, terms, None)
        scores = bm25.scores(
            layer.counts,
            layer.lengths,
            layer.mean_length,
            self._frequency(terms, self._chunk_counts, len(self._rows)),
            len(self._rows),
            terms,
        )
        return _ranking(rows, scores.tolist(), limit)

    def semantic(self, vector: FloatArray, filter: Filter, limit: int) -> Ranking:
        """See ``Snapshot.semantic``; rows of no length are left out."""
        rows = [row for row in self._passing(filter) if row.stored.id in self._vectors]
        cosines = [self._cosine([row], vector) for row in rows]
        known = [place for place, cosine in enumerate(cosines) if not np.isnan(cosine)]
        return _ranking([rows[place] for place in known], [cosines[place] for place in known], limit)

    def evidence(self, chunks: IntArray, terms: Sequence[Term], vector: FloatArray | None, window: int) -> Evidence:
        """See ``Snapshot.evidence``."""
        rows = [self._row(chunk) for chunk in chunks.tolist()]
        places = [self._places[row.stored.card] for row in rows]
        around = [_around(row, self._entries[place], window) for row, place in zip(rows, places, strict=True)]
        whole = [list(self._entries[place].rows) for place in places]
        windows = [_around(row, entry, window) for entry in self._entries for row in entry.rows]
        entire = [list(entry.rows) for entry in self._entries]
        return Evidence(
            chunks=chunks,
            cards=np.array(places, np.int64),
            positions=np.array([row.stored.chunk.position for row in rows], np.int64),
            detail=self._layer([[row] for row in rows], self._rows_alone, terms, vector),
            window=self._layer(around, windows, terms, vector),
            card=self._layer(whole, entire, terms, vector),
            chunk_frequency=self._frequency(terms, self._chunk_counts, len(self._rows)),
            card_frequency=self._frequency(terms, self._card_counts, len(self.cards)),
            chunk_count=len(self._rows),
            card_count=len(self.cards),
        )

    def chunks(self, ids: Sequence[int]) -> list[StoredChunk]:
        """See ``Snapshot.chunks``."""
        return [self._row(id).stored for id in ids]

    def of_card(self, id: str) -> list[StoredChunk]:
        """See ``Snapshot.of_card``."""
        entry = self.state.entries.get(id)
        return [] if entry is None else [row.stored for row in entry.rows]

    def layers(self, ids: Sequence[str]) -> list[CardLayers]:
        """See ``Snapshot.layers``."""
        found = [self.state.entries.get(id) for id in ids]
        return [_layers(e.record) if e else CardLayers("", "") for e in found]

    def pending(self, model: str, limit: int) -> list[StoredChunk]:
        """See ``Snapshot.pending``."""
        done = self.state.vectors.get(model, {})
        newest = sorted(self._entries, key=lambda entry: entry.info.dated, reverse=True)
        missing = (
            row.stored
            for entry in newest
            for row in entry.rows
            if row.stored.chunk.embed_text and row.stored.id not in done
        )
        return list(islice(missing, limit))

    @cached_property
    def _entries(self) -> list[_Entry]:
        return [self.state.entries[id] for id in sorted(self.state.entries)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {card.id: place for place, card in enumerate(self.cards)}

    @cached_property
    def _rows(self) -> dict[int, _Row]:
        return {row.stored.id: row for entry in self._entries for row in entry.rows}

    @cached_property
    def _rows_alone(self) -> list[list[_Row]]:
        return [[row] for row in self._rows.values()]

    @property
    def _vectors(self) -> Mapping[int, Int8Array]:
        return self.state.vectors.get(self.state.identity.model, {})

    def _row(self, chunk: int) -> _Row:
        row = self._rows.get(chunk)
        if row is None:
            raise SnapshotExpired(f"this view has no chunk {chunk}", hint="take a new snapshot")
        return row

    def _passing(self, filter: Filter) -> Iterable[_Row]:
        passed = mask(self.cards, filter)
        return (row for entry, ok in zip(self._entries, passed.tolist(), strict=True) if ok for row in entry.rows)

    @cached_property
    def _chunk_counts(self) -> Counter[str]:
        """Chunks that hold each word."""
        return Counter(word for row in self._rows.values() for word in row.words)

    @cached_property
    def _card_counts(self) -> Counter[str]:
        """Cards that hold each word."""
        return Counter(
            word for entry in self._entries for word in frozenset[str]().union(*(row.words for row in entry.rows))
        )

    @staticmethod
    def _frequency(terms: Sequence[Term], counts: Counter[str], total: int) -> FloatArray:
        absence = np.zeros(len(terms), np.int64)
        for place, term in enumerate(terms):
            held = [count for word, count in counts.items() if term.text in _forms(word, term.kind)]
            absence[place] = bm25.log_absence(np.array(held, np.int64), total).sum()
        return bm25.frequencies(absence, total)

    def _layer(
        self, units: list[list[_Row]], every: list[list[_Row]], terms: Sequence[Term], vector: FloatArray | None
    ) -> LayerEvidence:
        """Evidence of some units, each a run of rows, among ``every`` unit of the index."""
        counts = [[sum(row.counts[term.kind, term.text] for row in unit) for term in terms] for unit in units]
        total = sum(row.length for unit in every for row in unit)
        return LayerEvidence(
            counts=np.array(counts, np.float32).reshape(len(units), len(terms)),
            lengths=np.array([sum(row.length for row in unit) for unit in units], np.float32),
            mean_length=total / len(every) if every else 0.0,
            cosines=np.array([self._cosine(unit, vector) for unit in units], np.float32),
        )

    def _cosine(self, unit: list[_Row], vector: FloatArray | None) -> float:
        """Cosine of the vector and the mean of the unit's vectors; NaN when either has no length."""
        rows = [self._vectors[row.stored.id] for row in unit if row.stored.id in self._vectors]
        if vector is None or not rows:
            return float("nan")
        query = int8.quantise(vector).astype(np.int64)
        total = np.asarray(np.sum(rows, axis=0, dtype=np.int64))
        dot, square = int(np.dot(total, query)), int(np.dot(total, total))
        return float(
            int8.cosines(np.array([dot], np.float64), int(np.dot(query, query)), np.array([square], np.float64))[0]
        )


def _layers(record: CardRecord) -> CardLayers:
    return CardLayers(record.abstract, record.overview, record.layers_hash)


def _around(row: _Row, entry: _Entry, window: int) -> list[_Row]:
    position = row.stored.chunk.position
    if position == 0:
        return [row]
    return list(entry.rows[max(1, position - window) : position + window + 1])


def _ranking(rows: list[_Row], scores: list[float], limit: int) -> Ranking:
    """The best rows, equal scores by card id and position."""
    order = sorted(
        zip(scores, rows, strict=True), key=lambda pair: (-pair[0], pair[1].stored.card, pair[1].stored.chunk.position)
    )[: max(0, limit)]
    return Ranking(
        np.array([row.stored.id for _, row in order], np.int64), np.array([score for score, _ in order], np.float32)
    )
