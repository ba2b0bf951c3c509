"""Keyword and semantic ranking over one view."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cogvault.indexes import bm25, int8
from cogvault.indexes.local.lexical import Restriction, Side
from cogvault.indexes.local.view import View
from cogvault.indexes.local.vocabulary import TermTotals, WordCache
from cogvault.types import BoolArray, Filter, FloatArray, IntArray, Ranking, Term, TermKind

# Grams of that many chunks cost the engine more time than they say anything. They are left out when it looks for
# candidates, and counted when candidates are scored.
_COMMON_CHUNKS = 1000
_COMMON_SHARE = 0.05
# So many more candidates than asked for are scored exactly, because the engine rounds lengths and counts dead chunks.
_SLACK_SHARE = 0.25
_SLACK = 32
# Naming more cards than this to the engine is slower than asking it for more hits.
_NAMED_CARDS = 2000


@dataclass(frozen=True, slots=True)
class Reader:
    """What answering takes: a view, a connection in its transaction, and words that were read before."""

    view: View
    connection: sqlite3.Connection
    words: WordCache


def keyword(reader: Reader, terms: Sequence[Term], filter: Filter, limit: int) -> Ranking:
    """See ``Snapshot.keyword``: candidates from the engine, then exact scores from the words of the candidates."""
    view = reader.view
    resolved = view.resolve(reader.connection, terms)
    telling = _telling(terms, resolved.chunk_frequency, view.table.chunks)
    if not telling or limit <= 0:
        return nothing()
    pool = limit + int(limit * _SLACK_SHARE) + _SLACK
    chunks = _candidates(view, telling, pool, view.mask(filter))
    located = view.table.locate(chunks)
    slots, of_chunk = np.unique(located.slots, return_inverse=True)
    words = reader.words.read(reader.connection, view.table.starts[slots].tolist())
    rows = view.table.first_rows[located.slots] + located.positions
    before = view.table.words_before
    card_starts = before[view.table.first_rows[slots]]
    cards_before = np.concatenate([[0], np.cumsum(before[view.table.first_rows[slots + 1]] - card_starts)])
    lengths = before[rows + 1] - before[rows]
    own = words[ranges(cards_before[of_chunk] + before[rows] - card_starts[of_chunk], lengths)]
    totals = TermTotals.of(own, lengths, resolved)
    each = np.arange(len(chunks))
    scores = bm25.scores(
        totals.between(each, each + 1),
        lengths.astype(np.float32),
        view.table.mean_length,
        resolved.chunk_frequency,
        view.table.chunks,
        terms,
    )
    return _best(scores, view.table.places[located.slots], located.positions, chunks, limit)


def semantic(reader: Reader, vector: FloatArray, filter: Filter, limit: int) -> Ranking:
    """See ``Snapshot.semantic``: every row is compared."""
    vectors = reader.view.vectors(reader.connection)
    if vectors is None or limit <= 0 or not vectors.size:
        return nothing()
    scan = vectors.scan(vector)
    if not scan.square:
        return nothing()
    mask = reader.view.mask(filter)
    eligible = vectors.rankable if mask is None else vectors.rankable & mask[vectors.places]
    near = np.where(eligible, scan.dots * vectors.inverse_lengths, -np.inf)
    rows = np.flatnonzero(near > _floor(near, limit))
    scores = int8.cosines(scan.dots[rows], scan.square, vectors.squares[rows])
    return _best(scores, vectors.places[rows], vectors.positions(rows), vectors.chunks(rows), limit)


def _telling(terms: Sequence[Term], frequency: FloatArray, chunks: int) -> list[Term]:
    """Terms that occur at all, without grams of most chunks when there is anything else."""
    common = max(_COMMON_CHUNKS, chunks * _COMMON_SHARE)
    found = [term for term, held in zip(terms, frequency.tolist(), strict=True) if held > 0]
    rare = [
        term
        for term, held in zip(terms, frequency.tolist(), strict=True)
        if held > 0 and (term.kind is not TermKind.GRAM or held <= common)
    ]
    return rare or found


def _candidates(view: View, terms: Sequence[Term], pool: int, mask: BoolArray | None) -> IntArray:
    """The engine's ``pool`` best chunks of the cards that pass."""
    if mask is None:
        return view.lexical.search(terms, pool, None)
    versions = view.table.versions
    passing = int(mask.sum())
    if passing == 0:
        return np.empty(0, np.int64)
    if passing <= _NAMED_CARDS:
        return view.lexical.search(terms, pool, Restriction(Side.ONLY, versions[mask].tolist()))
    if len(versions) - passing <= _NAMED_CARDS:
        return view.lexical.search(terms, pool, Restriction(Side.NOT, versions[~mask].tolist()))
    asked = pool * len(versions) // passing
    while True:
        asked *= 2
        found = view.lexical.search(terms, asked, None)
        passed = found[mask[view.table.places[view.table.locate(found).slots]]]
        if len(passed) >= pool or len(found) < asked:
            return passed[:pool]


def _floor(values: npt.NDArray[np.float64], limit: int) -> float:
    """A little less than the ``limit``-th greatest value, so that all that round to it are above."""
    if limit >= len(values):
        return -np.inf
    greatest = float(np.partition(values, len(values) - limit)[len(values) - limit])
    return greatest - abs(greatest) * 1e-6 - 1e-9


def _best(scores: FloatArray, places: IntArray, positions: IntArray, chunks: IntArray, limit: int) -> Ranking:
    """Best first; equal scores by card id, then position."""
    order = np.lexsort((positions, places, -scores))[:limit]
    return Ranking(chunks[order], scores[order])


def ranges(first: IntArray, counts: IntArray) -> IntArray:
    """``first[i], first[i] + 1, …`` (``counts[i]`` numbers) for each i, one after another."""
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(counts.sum())


def nothing() -> Ranking:
    """An empty ranking."""
    return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
