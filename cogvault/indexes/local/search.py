"""Keyword and semantic ranking over one view."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cogvault.indexes import bm25, int8
from cogvault.indexes.local.arrays import ranges
from cogvault.indexes.local.counting import ResolvedTerms
from cogvault.indexes.local.lexical import LexicalDamaged, LexicalView, Restriction, Side, Wanted
from cogvault.indexes.local.view import NONE_WAIT, View, WaitingChunks
from cogvault.indexes.local.word_cache import WordCache
from cogvault.types import BoolArray, Filter, FloatArray, IntArray, Ranking, Term

# Terms that can add less than this share of what the query's best term adds cost the engine more time than they are
# worth. They are left out when it looks for candidates, and counted when candidates are scored.
_SILENT_SHARE = 0.08
# In a smaller index nothing is left out.
_LARGE_CHUNKS = 5000
# The engine rounds lengths, leaves terms out, and has another mean length where chunks died. So more chunks than asked
# for are scored exactly: so many more, and all that it scores down to so much below the last of those, so that neither
# its rounding nor the order in which it gives equal scores decides what is found.
_MORE = 64
_SLACK_SHARE = 0.03
_FIRST_ASKED = 2
_WIDENED = 4
# Naming more cards than this to the engine is slower than asking it for more hits.
_NAMED_CARDS = 2000
# Scored in one go when there is no engine.
_SCANNED_CHUNKS = 5000


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
    telling = _telling(terms, resolved, view.table.chunks)
    if not telling or limit <= 0:
        return nothing()
    mask = view.mask(filter)
    if view.lexical is None:
        return _of_all(reader, terms, resolved, mask, limit)
    candidates = _candidates(view, view.lexical, telling, limit, mask)
    return _scored(
        reader, candidates, terms, resolved, limit, view.waiting_chunks(reader.connection, reader.words), mask
    )


def _of_all(
    reader: Reader, terms: Sequence[Term], resolved: ResolvedTerms, mask: BoolArray | None, limit: int
) -> Ranking:
    """Without the engine: every chunk of the cards that pass is scored, some thousand at a time."""
    table, best = reader.view.table, nothing()
    slots = np.arange(len(table.starts)) if mask is None else np.flatnonzero(mask[table.places])
    groups = np.cumsum(table.counts[slots]) // _SCANNED_CHUNKS
    for group in np.split(slots, np.flatnonzero(np.diff(groups)) + 1):
        chunks = np.concatenate([best.chunks, ranges(table.starts[group], table.counts[group])])
        best = _scored(reader, chunks, terms, resolved, limit)
    return best


def _scored(
    reader: Reader,
    chunks: IntArray,
    terms: Sequence[Term],
    resolved: ResolvedTerms,
    limit: int,
    waiting: WaitingChunks = NONE_WAIT,
    mask: BoolArray | None = None,
) -> Ranking:
    """The best of some chunks, and of those that wait and pass, by their words; none without a word of the query."""
    view, asked = reader.view, len(chunks)
    chunks = np.concatenate([chunks, waiting.chunks])
    located = view.table.locate(chunks)
    first_rows, before = view.table.first_rows[located.slots], view.table.words_before
    rows = first_rows + located.positions
    card_starts, lengths = before[first_rows], before[rows + 1] - before[rows]
    words = reader.words.read_parts(
        reader.connection,
        view.table.starts[located.slots[:asked]],
        (before[rows] - card_starts)[:asked],
        (before[rows + 1] - card_starts)[:asked],
    )
    scores = bm25.scores(
        resolved.by_term(
            resolved.count(np.concatenate([words, waiting.words]), lengths, np.arange(len(chunks)), len(chunks))
        ),
        lengths.astype(np.float32),
        view.table.mean_length,
        resolved.chunk_frequency,
        view.table.chunks,
        terms,
    )
    places = view.table.places[located.slots]
    found = (scores > 0 if mask is None else (scores > 0) & mask[places]).nonzero()[0]
    return _best(scores[found], places[found], located.positions[found], chunks[found], limit)


def semantic(reader: Reader, vector: FloatArray, filter: Filter, limit: int) -> Ranking:
    """See ``Snapshot.semantic``: every row is compared."""
    vectors = reader.view.vectors(reader.connection)
    if vectors is None or limit <= 0:
        return nothing()
    scan = vectors.scan(vector)
    if not scan.square:
        return nothing()
    mask = reader.view.mask(filter)
    eligible = vectors.rankable if mask is None else vectors.rankable & mask[vectors.places]
    # Half the memory of exact cosines, and off by far less than ``_floor`` allows for.
    near = np.where(eligible, scan.dots.astype(np.float32) * vectors.inverse_lengths, np.float32(-np.inf))
    rows = (near > _floor(near, limit)).nonzero()[0]
    scores = int8.cosines(scan.dots[rows], scan.square, vectors.squares[rows])
    return _best(scores, vectors.places[rows].astype(np.int64), vectors.positions(rows), vectors.chunks(rows), limit)


def _telling(terms: Sequence[Term], resolved: ResolvedTerms, chunks: int) -> list[Wanted]:
    """Terms that occur, without those that say next to nothing."""
    frequency = resolved.chunk_frequency
    weights = np.array([term.weight for term in terms])
    rarity = np.where(frequency > 0, bm25.idf(frequency.astype(np.float64), chunks), 0.0)
    gains = weights * rarity
    least = gains.max(initial=0.0) * _SILENT_SHARE if chunks >= _LARGE_CHUNKS else 0.0
    telling = ((gains > 0) & (gains >= least)).nonzero()[0].tolist()
    found = [(terms[n], resolved.places[n], float(rarity[n])) for n in telling]
    return [Wanted(*place, term.weight, idf) for term, place, idf in found if place is not None]


def _candidates(
    view: View, lexical: LexicalView, terms: Sequence[Wanted], limit: int, mask: BoolArray | None
) -> IntArray:
    """Chunks of the cards that pass, among them the ``limit`` best whatever the engine rounds."""
    restriction = None if mask is None else _restriction(view, mask)
    depth = limit + _MORE
    asked = depth * _FIRST_ASKED
    if mask is not None and restriction is None:
        asked = asked * len(mask) // max(1, int(mask.sum()))
    while True:
        chunks, scores = lexical.search(terms, asked, restriction)
        complete = len(chunks) < asked
        last = scores[-1] if len(scores) else 0.0
        if view.waiting_cards is not None and view.waiting_cards.has_dead:
            alive = view.table.holds(chunks)
            chunks, scores = chunks[alive], scores[alive]
        elif not view.table.holds(chunks).all():
            raise LexicalDamaged("it holds chunks that the catalog does not")
        if mask is not None and restriction is None:
            passed = mask[view.table.places[view.table.locate(chunks).slots]]
            chunks, scores = chunks[passed], scores[passed]
        least = scores[depth - 1] * (1 - _SLACK_SHARE) if len(scores) >= depth else 0.0
        if complete or last < least:
            return chunks[scores >= least]
        asked *= _WIDENED


def _restriction(view: View, mask: BoolArray) -> Restriction | None:
    """The smaller side of a filter by name, None = both are too large for that."""
    versions = view.table.versions
    passing = int(mask.sum())
    if min(passing, len(mask) - passing) > _NAMED_CARDS:
        return None
    if passing <= len(mask) - passing:
        return Restriction(Side.ONLY, versions[mask].tolist())
    return Restriction(Side.NOT, versions[~mask].tolist())


def _floor(values: FloatArray, limit: int) -> float:
    """A little less than the ``limit``-th greatest value, so that all that round to it are above."""
    if limit >= len(values):
        return -np.inf
    greatest = float(np.partition(values, len(values) - limit)[len(values) - limit])
    return greatest - abs(greatest) * 1e-6 - 1e-9


def _best(scores: FloatArray, places: IntArray, positions: IntArray, chunks: IntArray, limit: int) -> Ranking:
    """Best first; equal scores by card id, then position."""
    order = np.lexsort((positions, places, -scores))[:limit]
    return Ranking(chunks[order], scores[order])


def nothing() -> Ranking:
    """An empty ranking."""
    return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
