"""A view: everything in memory that belongs to one sequence number, shared by all snapshots of it.

What a view works out on demand is kept with it: masks of filters, the last query's terms and dot products.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from cogvault.indexes import int8
from cogvault.indexes.filters import mask
from cogvault.indexes.local.arrays import distinct, ranges
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.counting import ResolvedTerms
from cogvault.indexes.local.coverage import Coverage
from cogvault.indexes.local.lexical import LexicalView
from cogvault.indexes.local.schema import State
from cogvault.indexes.local.vectors import Matrix
from cogvault.indexes.local.vocabulary import Vocabulary
from cogvault.indexes.local.waiting import WaitingCards
from cogvault.indexes.local.word_cache import WordCache
from cogvault.types import BoolArray, Filter, FloatArray, IndexStats, IntArray, Term

_CACHED_MASKS = 64
# Vectors that are summed in one go, unless a single card has more.
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class Scan:
    """Dot products of one query with every row of a matrix.

    Attributes:
        key: the query's bytes.
        square: its squared length.
        dots: (size,) exact.
    """

    key: bytes
    square: int
    dots: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class WaitingChunks:
    """Chunks that are not in the keyword part yet.

    Attributes:
        chunks: ids, card after card.
        words: word ids of them, one chunk after another.
    """

    chunks: IntArray
    words: IntArray


NONE_WAIT: Final = WaitingChunks(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class _Known:
    """What a view of vectors takes over from the one before; see the fields of ``VectorView`` with these names."""

    places: npt.NDArray[np.int32]
    inverse_lengths: npt.NDArray[np.float32]
    row_of: npt.NDArray[np.int32]
    card_squares: IntArray
    window_squares: dict[int, IntArray]


class VectorView:
    """The rows of a matrix that belong to a table's chunks.

    Args:
        matrix: the vectors.
        table: the cards.
        before: another view, which is followed when it is of the same matrix and of this table or the one before.
    """

    def __init__(self, matrix: Matrix, table: CardTable, before: VectorView | None = None) -> None:
        self._matrix = matrix
        self.table = table
        self.size = matrix.size
        self.squares = matrix.squares
        known = (None if before is None else before.known_for(matrix, table)) or _nothing(table)
        new = self.squares[len(known.places) :]
        self.places = np.concatenate([known.places, np.full(len(new), -1, np.int32)])
        """(size,) place of each row's card, -1 = the view has no such card."""
        self.inverse_lengths = np.concatenate(
            [known.inverse_lengths, 1 / np.sqrt(np.maximum(new, 1).astype(np.float32))]
        )
        """(size,) float32."""
        self._row_of = known.row_of
        self._card_squares = known.card_squares
        self._window_squares = known.window_squares
        self._take_in(np.flatnonzero(self.places < 0))
        self.rankable: BoolArray = (self.places >= 0) & (self.squares > 0)
        """(size,) rows of the view that have a direction."""
        self._scan: Scan | None = None

    def known_for(self, matrix: Matrix, table: CardTable) -> _Known | None:
        """What stays true for another table, in arrays that are the caller's; None = nothing."""
        step = table.step_from(self.table)
        if matrix is not self._matrix or step is None:
            return None
        return _Known(
            # The last one stands for -1.
            np.append(step.places.moved(len(self.table.rows)), -1).astype(np.int32)[self.places],
            self.inverse_lengths,
            step.rows.extended(self._row_of, -1),
            step.slots.extended(self._card_squares, -1),
            {window: step.rows.extended(squares, -1) for window, squares in self._window_squares.items()},
        )

    def _take_in(self, rows: IntArray) -> None:
        """Find the cards of matrix rows; what was known of these cards is no longer true."""
        slots = self.table.find(self._matrix.versions[rows])
        rows, slots = rows[slots >= 0], slots[slots >= 0]
        self.places[rows] = self.table.places[slots]
        self._row_of[self.table.first_rows[slots] + self._matrix.positions[rows]] = rows
        self._card_squares[slots] = -1
        slots = distinct(slots)
        chunk_rows = ranges(self.table.first_rows[slots], self.table.counts[slots])
        for squares in self._window_squares.values():
            squares[chunk_rows] = -1

    def chunks(self, rows: IntArray) -> IntArray:
        """Chunk ids of matrix rows."""
        return self._matrix.versions[rows] + self._matrix.positions[rows]

    def positions(self, rows: IntArray) -> IntArray:
        """Positions in their cards of the chunks of matrix rows."""
        return self._matrix.positions[rows].astype(np.int64)

    def scan(self, vector: FloatArray) -> Scan:
        """Compare a unit vector (dim,) with every row; the last one is kept, because each query asks twice."""
        key, last = vector.tobytes(), self._scan
        if last is None or last.key != key:
            query = int8.quantise(vector)
            wide = query.astype(np.int64)
            last = Scan(key, int(np.dot(wide, wide)), self._matrix.dots(query, self.size))
            self._scan = last
        return last

    def dots(self, scan: Scan, chunk_rows: IntArray) -> IntArray:
        """Dot products of chunks, by row of the table; 0 without a vector."""
        rows = self._row_of[chunk_rows]
        return np.where(rows >= 0, scan.dots[rows], 0).astype(np.int64)

    def chunk_squares(self, chunk_rows: IntArray) -> IntArray:
        """Squared length of chunks' vectors, by row of the table; 0 without one."""
        rows = self._row_of[chunk_rows]
        return np.where(rows >= 0, self.squares[rows], 0).astype(np.int64)

    def card_squares(self, slots: IntArray) -> IntArray:
        """Squared length of the sum of all vectors of each card."""
        table, known = self.table, self._card_squares
        new = distinct(slots[known[slots] < 0])
        run = np.cumsum(table.counts[new]) // _ROWS_AT_ONCE
        for group in np.split(new, np.flatnonzero(np.diff(run)) + 1) if len(new) else ():
            counts = table.counts[group]
            rows = self._row_of[ranges(table.first_rows[group], counts)]
            vectors = self._matrix.take(rows.astype(np.int64))
            # One by one: numpy's reduceat takes twice as long.
            ends = np.cumsum(counts).tolist()
            totals = [vectors[a:b].sum(axis=0, dtype=np.int64) for a, b in zip([0, *ends], ends, strict=False)]
            known[group] = [np.dot(total, total) for total in totals]
        return known[slots]

    def window_squares(self, chunk_rows: IntArray, first: IntArray, end: IntArray, window: int) -> IntArray:
        """Squared length of the sum of the vectors of each chunk's window.

        Args:
            chunk_rows: (n,) rows of the chunks, which are what results are kept by.
            first: (n,) row of each window's first chunk.
            end: (n,) row after each window's last chunk.
            window: chunks either side.
        """
        if window not in self._window_squares:
            self._window_squares = {window: np.full(self.table.chunks, -1, np.int64)}
        known = self._window_squares[window]
        new = (known[chunk_rows] < 0).nonzero()[0]
        span = np.arange(2 * window + 1)
        around = first[new][:, None] + span
        rows = np.where(around < end[new][:, None], self._row_of[np.minimum(around, self.table.chunks - 1)], -1)
        vectors = self._matrix.take(rows.ravel()).reshape(len(new), len(span), self._matrix.dim)
        known[chunk_rows[new]] = int8.squares(vectors.sum(axis=1, dtype=np.int32))
        return known[chunk_rows]


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a view takes over from the one before: its vectors and coverage to follow, and masks for its own cards."""

    vectors: VectorView | None = None
    coverage: Coverage | None = None
    masks: dict[Filter, BoolArray] = field(default_factory=dict)


class View:
    """One sequence number in memory.

    Args:
        state: the catalog's.
        table: the cards that are alive; where ``waiting_cards`` is None, at the keyword part's sequence number.
        vocabulary: its words.
        lexical: the keyword part, None = it is damaged.
        waiting_cards: the few changes that are not in it, None = more than a few, which the view is without.
        matrix: vectors of the serving model, None = there are none.
        before: the view before it, from which is taken what still is true.
    """

    def __init__(
        self,
        state: State,
        table: CardTable,
        vocabulary: Vocabulary,
        lexical: LexicalView | None,
        waiting_cards: WaitingCards | None,
        matrix: Matrix | None,
        before: View | None,
    ) -> None:
        self.state = state
        self.identity = state.decoded_identity()
        self.table = table
        self.lexical = lexical
        self.waiting_cards = waiting_cards
        self._matrix = matrix
        self._lock = Lock()
        self._vectors: VectorView | None = None
        carried = _Carried() if before is None else before.carried(table)
        self._vectors_before = carried.vectors
        self._coverage = carried.coverage
        self._vocabulary = vocabulary
        self._masks = carried.masks
        self._waiting: WaitingChunks | None = None
        self._terms: tuple[tuple[Term, ...], ResolvedTerms] | None = None
        self.stats: IndexStats | None = None
        """Measured once, by whoever knows how."""

    def vectors(self, connection: sqlite3.Connection) -> VectorView | None:
        """Vectors of the serving model, read when first asked for; None = there are none.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        with self._lock:
            if self._vectors is None and self._matrix is not None:
                with self._matrix.lock:
                    self._matrix.refresh(connection)
                    if self._matrix.size:
                        self._vectors = VectorView(self._matrix, self.table, self._vectors_before)
                        self._vectors_before = None
            return self._vectors

    @property
    def has_read_vectors(self) -> bool:
        """True when somebody asked for them."""
        return self._vectors is not None

    def dead_vectors(self) -> BoolArray | None:
        """(rows,) True for rows of the matrix that no card of the view has; None when they were never read."""
        vectors = self._vectors
        return None if vectors is None else vectors.places < 0

    def is_settled(self, state: State, lexical: LexicalView) -> bool:
        """True when this is the view of that state and keyword part, and no writer is between two steps of it."""
        return (
            self.state == state
            and self.lexical is lexical
            and self.waiting_cards is not None
            and not self.waiting_cards.has_dead
        )

    @property
    def has_waiting(self) -> bool:
        """True when there are chunks that the keyword part does not hold yet."""
        return self.waiting_cards is not None and len(self.waiting_cards.born) > 0

    def waiting_chunks(self, connection: sqlite3.Connection, words: WordCache) -> WaitingChunks:
        """The few chunks that are not in the keyword part yet, read when first asked for.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        if self.waiting_cards is None or not self.has_waiting:
            return NONE_WAIT
        found = self._waiting
        if found is None:
            slots = self.table.find(self.waiting_cards.born)
            chunks = ranges(self.table.starts[slots], self.table.counts[slots])
            found = self._waiting = WaitingChunks(chunks, words.read(connection, self.waiting_cards.born))
        return found

    def has_vector(self, connection: sqlite3.Connection, model: str) -> BoolArray:
        """(chunks,) by row of the table: which have a vector of a model (fingerprint)."""
        coverage = Coverage.of(connection, model, self.table, self._coverage)
        self._coverage = coverage
        return coverage.held

    def mask(self, filter: Filter) -> BoolArray | None:
        """(cards,) by place: which cards pass; None = all."""
        if filter.is_empty:
            return None
        found = self._masks.get(filter)
        if found is None:
            found = mask(self.table.cards, filter)
            self._masks = {**(self._masks if len(self._masks) < _CACHED_MASKS else {}), filter: found}
        return found

    def carried(self, table: CardTable) -> _Carried:
        """What the view of another table takes over."""
        step, masks = table.step_from(self.table), self._masks
        if step is None:
            return _Carried()
        come = [table.cards[place] for place in step.places.come.tolist()]
        return _Carried(
            self._vectors,
            self._coverage,
            {filter: step.places.array(held, mask(come, filter)) for filter, held in masks.items()},
        )

    def resolve(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> ResolvedTerms:
        """Terms in this view's vocabulary; the last ones are kept, because each query asks twice."""
        key = tuple(terms)
        last = self._terms
        if last is None or last[0] != key:
            last = (key, self._vocabulary.resolve(connection, key))
            self._terms = last
        return last[1]


def _nothing(table: CardTable) -> _Known:
    return _Known(
        np.empty(0, np.int32),
        np.empty(0, np.float32),
        np.full(table.chunks, -1, np.int32),
        np.full(len(table.starts), -1, np.int64),
        {},
    )
