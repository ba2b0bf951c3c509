"""Evidence: what chunks, their windows and their cards hold of a query, counted exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cogvault.indexes import int8
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.search import Reader, ranges
from cogvault.indexes.local.view import Scan, VectorView, windows
from cogvault.indexes.local.vocabulary import ResolvedTerms, TermTotals
from cogvault.types import Evidence, FloatArray, IntArray, LayerEvidence, Term

# Counters held at once: a query of thousands of terms is counted some cards at a time.
_CELLS = 4_000_000


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
        _Units(*windows(table, rows, window)),
        _Units(table.first_rows[located.slots], table.first_rows[located.slots + 1]),
    )
    resolved = view.resolve(reader.connection, terms)
    counts = _counts(reader, located.slots, layers, resolved)
    vectors = None if vector is None else view.vectors(reader.connection)
    cosines = _cosines(vectors, vector, located.slots, rows, layers, window)
    before = table.words_before
    means = (table.mean_length, view.mean_window(window), float(before[-1]) / max(1, len(table.cards)))
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
    reader: Reader, slots: IntArray, layers: Sequence[_Units], resolved: ResolvedTerms
) -> tuple[FloatArray, ...]:
    """(n, terms) for each layer."""
    table = reader.view.table
    found = tuple(np.zeros((len(slots), len(resolved.chunk_frequency)), np.float32) for _ in layers)
    for group in _groups(table, np.unique(slots), len(resolved.holds)):
        words = reader.words.read(reader.connection, table.starts[group].tolist())
        rows = ranges(table.first_rows[group], table.counts[group])
        totals = TermTotals.of(words, table.words_before[rows + 1] - table.words_before[rows], resolved)
        chosen = np.flatnonzero((slots >= group[0]) & (slots <= group[-1]))
        place = np.searchsorted(group, slots[chosen])
        # From rows of the table to rows of the group.
        shift = (np.cumsum(table.counts[group]) - table.counts[group])[place] - table.first_rows[group][place]
        for units, target in zip(layers, found, strict=True):
            target[chosen] = totals.between(units.first[chosen] + shift, units.end[chosen] + shift)
    return found


def _groups(table: CardTable, slots: IntArray, classes: int) -> Iterator[IntArray]:
    """Cut ascending slots into runs of not too many chunks."""
    group = np.cumsum(table.counts[slots]) * classes // _CELLS
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


def _dots(vectors: VectorView, scan: Scan, units: _Units) -> npt.NDArray[np.float64]:
    """(n,) dot product of the query with the sum of the vectors of each unit; every unit has a chunk."""
    counts = units.end - units.first
    each = vectors.dots(scan, ranges(units.first, counts))
    return np.asarray(np.add.reduceat(each, np.cumsum(counts) - counts)) if len(counts) else each
