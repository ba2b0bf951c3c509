"""A view: everything in memory that belongs to one sequence number, shared by all snapshots of it.

What a view works out on demand is kept with it: masks of filters, the last query's terms and dot products.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from cogvault.indexes import int8
from cogvault.indexes.filters import mask
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.lexical import LexicalView
from cogvault.indexes.local.schema import State
from cogvault.indexes.local.vectors import Matrix, held
from cogvault.indexes.local.vocabulary import ResolvedTerms, Vocabulary
from cogvault.types import BoolArray, Filter, FloatArray, IndexStats, IntArray, Term

_CACHED_MASKS = 64


@dataclass(frozen=True, slots=True)
class Scan:
    """Dot products of one query with every row of a matrix.

    Attributes:
        key: the quantised query's bytes.
        square: its squared length.
        dots: (size,) exact.
    """

    key: bytes
    square: int
    dots: npt.NDArray[np.int32]


class VectorView:
    """The rows of a matrix that belong to a table's chunks."""

    def __init__(self, matrix: Matrix, table: CardTable) -> None:
        self._matrix = matrix
        self.table = table
        self.size = matrix.size
        self.squares = matrix.squares
        slots = table.find(matrix.versions)
        alive = slots >= 0
        self.rankable: BoolArray = alive & (self.squares > 0)
        """(size,) rows of the view that have a direction."""
        self.inverse_lengths = 1 / np.sqrt(np.maximum(self.squares, 1).astype(np.float32))
        """(size,) float32."""
        self.places = np.full(self.size, -1, np.int32)
        """(size,) place of each row's card."""
        self.places[alive] = table.places[slots[alive]]
        self._row_of = np.full(table.chunks, -1, np.int32)
        self._row_of[table.first_rows[slots[alive]] + matrix.positions[alive]] = np.flatnonzero(alive)
        self._card_squares = np.full(len(table.starts), -1, np.int64)
        self._window_squares: dict[int, IntArray] = {}
        self._scan: Scan | None = None

    def chunks(self, rows: IntArray) -> IntArray:
        """Chunk ids of matrix rows."""
        return self._matrix.versions[rows] + self._matrix.positions[rows]

    def positions(self, rows: IntArray) -> IntArray:
        """Positions in their cards of the chunks of matrix rows."""
        return self._matrix.positions[rows].astype(np.int64)

    def scan(self, vector: FloatArray) -> Scan:
        """Compare a unit vector (dim,) with every row; the last one is kept, because each query asks twice."""
        query = int8.quantise(vector)
        last = self._scan
        if last is None or last.key != query.tobytes():
            wide = query.astype(np.int64)
            last = Scan(query.tobytes(), int(np.dot(wide, wide)), self._matrix.dots(query, self.size))
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
        for slot in np.unique(slots[known[slots] < 0]).tolist():
            rows = self._row_of[table.first_rows[slot] : table.first_rows[slot + 1]].astype(np.int64)
            total = self._matrix.take(rows).sum(axis=0, dtype=np.int64)
            known[slot] = np.dot(total, total)
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
        new = np.flatnonzero(known[chunk_rows] < 0)
        span = np.arange(2 * window + 1)
        around = first[new][:, None] + span
        rows = np.where(around < end[new][:, None], self._row_of[np.minimum(around, self.table.chunks - 1)], -1)
        vectors = self._matrix.take(rows.ravel()).reshape(len(new), len(span), self._matrix.dim)
        known[chunk_rows[new]] = int8.squares(vectors.sum(axis=1, dtype=np.int32))
        return known[chunk_rows]


class View:
    """One sequence number in memory.

    Args:
        state: the catalog's.
        table: the cards alive at the keyword part's sequence number.
        vocabulary: its words.
        lexical: the keyword part.
        matrix: vectors of the serving model, None = there are none.
    """

    def __init__(
        self, state: State, table: CardTable, vocabulary: Vocabulary, lexical: LexicalView, matrix: Matrix | None
    ) -> None:
        self.state = state
        self.identity = state.decoded_identity()
        self.table = table
        self.lexical = lexical
        self._matrix = matrix
        self._lock = Lock()
        self._vectors: VectorView | None = None
        self._vocabulary = vocabulary
        self._masks: dict[Filter, BoolArray] = {}
        self._terms: tuple[tuple[Term, ...], ResolvedTerms] | None = None
        self._windows: dict[int, float] = {}
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
                    self._vectors = VectorView(self._matrix, self.table) if self._matrix.size else None
            return self._vectors

    def dead_vectors(self) -> BoolArray | None:
        """(rows,) True for rows of the matrix that no card of the view has; None when they were never read."""
        vectors = self._vectors
        return None if vectors is None else vectors.places < 0

    def has_vector(self, connection: sqlite3.Connection, model: str) -> BoolArray:
        """(chunks,) by row of the table: which have a vector of a model (fingerprint)."""
        versions, positions = held(connection, model)
        slots = self.table.find(versions)
        alive = slots >= 0
        found = np.zeros(self.table.chunks, np.bool_)
        found[self.table.first_rows[slots[alive]] + positions[alive]] = True
        return found

    def mask(self, filter: Filter) -> BoolArray | None:
        """(cards,) by place: which cards pass; None = all."""
        if filter.is_empty:
            return None
        found = self._masks.get(filter)
        if found is None:
            found = mask(self.table.cards, filter)
            self._masks = {**(self._masks if len(self._masks) < _CACHED_MASKS else {}), filter: found}
        return found

    def resolve(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> ResolvedTerms:
        """Terms in this view's vocabulary; the last ones are kept, because each query asks twice."""
        key = tuple(terms)
        last = self._terms
        if last is None or last[0] != key:
            last = (key, self._vocabulary.resolve(connection, key))
            self._terms = last
        return last[1]

    def mean_window(self, window: int) -> float:
        """Words in the average window of this many chunks either side; a head chunk is its own window."""
        if window not in self._windows:
            table = self.table
            rows = np.arange(table.chunks)
            first, end = windows(table, rows, window)
            before = table.words_before
            self._windows[window] = float((before[end] - before[first]).sum()) / max(1, table.chunks)
        return self._windows[window]


def windows(table: CardTable, chunk_rows: IntArray, window: int) -> tuple[IntArray, IntArray]:
    """First row, and row after the last, of the windows around chunks.

    Args:
        table: the cards.
        chunk_rows: (n,) rows of the chunks.
        window: body chunks either side.
    """
    slots = np.searchsorted(table.first_rows, chunk_rows, side="right") - 1
    head = table.first_rows[slots]
    first = np.maximum(head + 1, chunk_rows - window)
    end = np.minimum(table.first_rows[slots + 1], chunk_rows + window + 1)
    is_head = chunk_rows == head
    return np.where(is_head, head, first), np.where(is_head, head + 1, end)
