"""Evidence: what chunks, their windows and their cards hold of a query, counted exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cogvault.indexes import int8
from cogvault.indexes.local.arrays import ranges
from cogvault.indexes.local.cards import CardTable, windows
from cogvault.indexes.local.search import Reader
from cogvault.indexes.local.view import Scan, VectorView
from cogvault.indexes.local.vocabulary import ResolvedTerms
from cogvault.types import Evidence, FloatArray, IntArray, LayerEvidence, Term

_Number = TypeVar("_Number", np.float32, np.int64)

# Words and counters looked at in one go. Larger arrays go back to the system after each query, and getting them anew
# costs more than the counting; and a query of thousands of terms must not need gigabytes.
_WORDS_AT_ONCE = 65_536
_COUNTERS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class _Units:
    """A run of chunks for each candidate: rows of the table from ``first`` (n,) up to, without, ``end`` (n,)."""

    first: IntArray
    end: IntArray


def evidence(
    reader: Reader, chunks: IntArray, terms: Sequence[Term], vector: FloatArray | None, window: int
) -> Evidence:
    """See ``Snapshot.evidence``."""
    view, table = reader.view, reader.view.table
    located = table.locate(chunks)
    rows = table.first_rows[located.slots] + located.positions
    layers = (
        _Units(rows, rows + 1),
        _Units(*windows(table.first_rows, rows, window)),
        _Units(table.first_rows[located.slots], table.first_rows[located.slots + 1]),
    )
    resolved = view.resolve(reader.connection, terms)
    counts = _counts(reader, located.slots, rows, layers[1], resolved)
    vectors = None if vector is None else view.vectors(reader.connection)
    cosines = _cosines(vectors, vector, located.slots, rows, layers, window)
    before = table.words_before
    means = (table.mean_length, table.mean_window(window), float(before[-1]) / max(1, len(table.cards)))
    detail, around, card = (
        LayerEvidence(count, (before[units.end] - before[units.first]).astype(np.float32), mean, cosine)
        for count, units, mean, cosine in zip(counts, layers, means, cosines, strict=True)
    )
    return Evidence(
        chunks=chunks,
        cards=table.places[located.slots],
        positions=located.positions,
        detail=detail,
        window=around,
        card=card,
        chunk_frequency=resolved.chunk_frequency,
        card_frequency=resolved.card_frequency,
        chunk_count=table.chunks,
        card_count=len(table.cards),
    )


def _counts(
    reader: Reader, slots: IntArray, rows: IntArray, around: _Units, resolved: ResolvedTerms
) -> tuple[FloatArray, ...]:
    """(n, terms) for each layer."""
    table = reader.view.table
    detail, window, card = (np.zeros((len(slots), len(resolved.chunk_frequency)), np.float32) for _ in range(3))
    for group in _groups(table, np.unique(slots), len(resolved.chunk_frequency)):
        words = reader.words.read(reader.connection, table.starts[group].tolist())
        first, sizes = table.first_rows[group], table.counts[group]
        of_group = ranges(first, sizes)
        each = resolved.count(words, table.words_before[of_group + 1] - table.words_before[of_group])
        chosen = np.flatnonzero((slots >= group[0]) & (slots <= group[-1]))
        place = np.searchsorted(group, slots[chosen])
        starts = np.cumsum(sizes) - sizes
        # From rows of the table to rows of the group.
        shift = (starts - first)[place]
        detail[chosen] = each[rows[chosen] + shift]
        spans = around.end[chosen] - around.first[chosen]
        window[chosen] = _summed(each[ranges(around.first[chosen] + shift, spans)], np.cumsum(spans) - spans)
        card[chosen] = _summed(each, starts)[place]
    return detail, window, card


def _summed(rows: npt.NDArray[_Number], starts: IntArray) -> npt.NDArray[_Number]:
    """Sums of runs of rows; every run has one."""
    return np.asarray(np.add.reduceat(rows, starts, axis=0)) if len(starts) else rows


def _groups(table: CardTable, slots: IntArray, terms: int) -> Iterator[IntArray]:
    """Cut ascending slots into runs of not too many words and chunks."""
    words = np.cumsum(table.words_before[table.first_rows[slots + 1]] - table.words_before[table.first_rows[slots]])
    counters = np.cumsum(table.counts[slots]) * terms
    group = np.maximum(words // _WORDS_AT_ONCE, counters // _COUNTERS_AT_ONCE)
    yield from np.split(slots, np.flatnonzero(np.diff(group)) + 1) if len(slots) else ()


def _cosines(
    vectors: VectorView | None,
    vector: FloatArray | None,
    slots: IntArray,
    rows: IntArray,
    layers: Sequence[_Units],
    window: int,
) -> tuple[FloatArray, ...]:
    """(n,) for each layer."""
    if vectors is None or vector is None:
        return tuple(np.full(len(slots), np.nan, np.float32) for _ in layers)
    scan = vectors.scan(vector)
    _, around, _ = layers
    # Candidates share cards: the whole of each is summed once.
    cards, of_candidate = np.unique(slots, return_inverse=True)
    whole = _Units(vectors.table.first_rows[cards], vectors.table.first_rows[cards + 1])
    return (
        int8.cosines(vectors.dots(scan, rows), scan.square, vectors.chunk_squares(rows)),
        int8.cosines(
            _dots(vectors, scan, around),
            scan.square,
            vectors.window_squares(rows, around.first, around.end, window),
        ),
        int8.cosines(_dots(vectors, scan, whole), scan.square, vectors.card_squares(cards))[of_candidate],
    )


def _dots(vectors: VectorView, scan: Scan, units: _Units) -> IntArray:
    """(n,) dot product of the query with the sum of the vectors of each unit; every unit has a chunk."""
    counts = units.end - units.first
    each = vectors.dots(scan, ranges(units.first, counts))
    return _summed(each, np.cumsum(counts) - counts)
