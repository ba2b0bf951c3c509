"""Evidence: what chunks, their windows and their cards hold of a query, counted exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cogvault.indexes import int8
from cogvault.indexes.local.arrays import ranges
from cogvault.indexes.local.cards import CardTable, windows
from cogvault.indexes.local.counting import ResolvedTerms
from cogvault.indexes.local.search import Reader
from cogvault.indexes.local.view import Scan, VectorView
from cogvault.types import Evidence, FloatArray, IntArray, LayerEvidence, Term

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
    # Candidates share cards: what is of a whole card is worked out once.
    cards, of_candidate = np.unique(located.slots, return_inverse=True)
    counts = _counts(reader, cards, of_candidate, rows, layers[1], resolved)
    vectors = None if vector is None else view.vectors(reader.connection)
    cosines = _cosines(vectors, vector, cards, of_candidate, rows, layers[1], window)
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the words of each chunk of the candidates' cards are counted, and what is added up for each candidate.

    Of each card, one row is for all its chunks that are in no window, then there is one for each that is in some.

    Attributes:
        heads: (cards + 1,) the first row of each card; last, the number of rows.
        starts: (cards + 1,) the first chunk of each card among the chunks of all; last, their number.
        lengths: (chunks,) words in each chunk.
        row: (chunks,) where each is counted.
        own: (n,) row of each candidate.
        around: (n,) rows of its window.
    """

    heads: IntArray
    starts: IntArray
    lengths: IntArray
    row: IntArray
    own: IntArray
    around: _Units

    @classmethod
    def of(cls, table: CardTable, cards: IntArray, of_candidate: IntArray, rows: IntArray, around: _Units) -> _Layout:
        """Lay out some cards; for the arguments see ``_counts``."""
        first, sizes = table.first_rows[cards], table.counts[cards]
        starts = np.zeros(len(sizes) + 1, np.int64)
        sizes.cumsum(out=starts[1:])
        # From rows of the table to chunks of the cards.
        shift = (starts[:-1] - first)[of_candidate]
        begin, end = around.first + shift, around.end + shift
        near = np.zeros(starts[-1], np.int64)
        near[ranges(begin, end - begin)] = 1
        seen = np.zeros(len(near) + 1, np.int64)
        near.cumsum(out=seen[1:])
        heads = seen[starts] + np.arange(len(starts))
        of_chunk = np.arange(len(cards)).repeat(sizes)
        row = np.where(near, seen[1:] + of_chunk, heads[of_chunk])
        chunk_rows = ranges(first, sizes)
        lengths = table.words_before[chunk_rows + 1] - table.words_before[chunk_rows]
        return cls(heads, starts, lengths, row, row[rows + shift], _Units(row[begin], row[end - 1] + 1))


def _counts(
    reader: Reader, cards: IntArray, of_candidate: IntArray, rows: IntArray, around: _Units, resolved: ResolvedTerms
) -> tuple[FloatArray, ...]:
    """(n, terms) for each layer.

    Args:
        reader: where the words are.
        cards: ascending slots of the candidates' cards.
        of_candidate: (n,) place of each candidate's card in ``cards``.
        rows: (n,) of the candidates.
        around: their windows.
        resolved: the terms.
    """
    table = reader.view.table
    layout = _Layout.of(table, cards, of_candidate, rows, around)
    detail, window, card = (np.zeros((len(rows), resolved.width), np.int64) for _ in range(3))
    for start, end in _groups(table, cards, resolved.width):
        chosen = ((of_candidate >= start) & (of_candidate < end)).nonzero()[0]
        chunks, head = slice(layout.starts[start], layout.starts[end]), layout.heads[start]
        words = reader.words.read(reader.connection, table.starts[cards[start:end]])
        counts = resolved.count(words, layout.lengths[chunks], layout.row[chunks] - head, layout.heads[end] - head)
        before = np.zeros((len(counts) + 1, resolved.width), np.int64)
        counts.cumsum(axis=0, out=before[1:])
        first, last = layout.around.first[chosen] - head, layout.around.end[chosen] - head
        detail[chosen] = counts.take(layout.own[chosen] - head, axis=0)
        window[chosen] = before.take(last, axis=0) - before.take(first, axis=0)
        own = of_candidate[chosen]
        first, last = layout.heads[own] - head, layout.heads[own + 1] - head
        card[chosen] = before.take(last, axis=0) - before.take(first, axis=0)
    return tuple(map(resolved.by_term, (detail, window, card)))


def _groups(table: CardTable, slots: IntArray, columns: int) -> Iterator[tuple[int, int]]:
    """Cut slots into runs, from a place up to another, of not too many words and chunks."""
    words = (table.words_before[table.first_rows[slots + 1]] - table.words_before[table.first_rows[slots]]).cumsum()
    counters = table.counts[slots].cumsum() * columns
    group = np.maximum(words // _WORDS_AT_ONCE, counters // _COUNTERS_AT_ONCE)
    cuts = [0, *((group[1:] != group[:-1]).nonzero()[0] + 1).tolist(), len(slots)]
    return pairwise(cuts) if len(slots) else iter(())


def _cosines(
    vectors: VectorView | None,
    vector: FloatArray | None,
    cards: IntArray,
    of_candidate: IntArray,
    rows: IntArray,
    around: _Units,
    window: int,
) -> tuple[FloatArray, ...]:
    """(n,) for each layer; for the arguments see ``_counts``."""
    if vectors is None or vector is None:
        return tuple(np.full(len(rows), np.nan, np.float32) for _ in range(3))
    scan = vectors.scan(vector)
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
    return np.asarray(np.add.reduceat(each, counts.cumsum() - counts)) if len(counts) else each
