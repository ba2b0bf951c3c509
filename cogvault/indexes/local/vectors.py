"""Vectors in memory: int8 rows in blocks, read from the catalog once and then only what is new.

Rows are only ever added. Which of them count is decided by each view, from the card versions that are alive in it, so
that one matrix serves old and new views at once.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from cogvault.indexes.int8 import Int8Array
from cogvault.indexes.local import codec
from cogvault.indexes.local.arrays import distinct
from cogvault.types import IntArray

try:
    import numkong
except ImportError:  # no wheel for this platform
    _HAS_NUMKONG = False
else:
    _HAS_NUMKONG = True

# Growing never copies what is there. Memory that is not yet written to costs nothing, and blocks of this size come from
# the system and not from the heap, which the reading of rows would leave in pieces.
_BLOCK_ROWS = 131_072
_FETCH_ROWS = 512


@dataclass(frozen=True, slots=True)
class CardVectors:
    """Vectors of one card version, in the order in which they came.

    Attributes:
        positions: (n,) uint32, positions of the chunks.
        squares: (n,) uint32, squared length of each row.
        rows: (n, dim) int8.
    """

    positions: npt.NDArray[np.uint32]
    squares: npt.NDArray[np.uint32]
    rows: Int8Array

    def encode(self) -> tuple[bytes, bytes]:
        """Positions, which are asked for alone; then the rest."""
        positions, squares = self.positions.astype("<u4").tobytes(), self.squares.astype("<u4").tobytes()
        return positions, squares + self.rows.tobytes()

    def after(self, count: int) -> CardVectors:
        """Without the first ``count``."""
        return CardVectors(self.positions[count:], self.squares[count:], self.rows[count:])

    @classmethod
    def decode(cls, positions: bytes, content: bytes, dim: int) -> CardVectors:
        """Reverse of ``encode``.

        Raises:
            ValueError: the parts do not fit each other.
        """
        count = len(positions) // 4
        rows = np.frombuffer(content, np.int8, offset=4 * count).reshape(count, dim)
        return cls(np.frombuffer(positions, "<u4"), np.frombuffer(content, "<u4", count), rows)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is known of some rows of the matrix beside the vectors themselves; see ``Matrix``."""

    versions: IntArray
    positions: npt.NDArray[np.uint32]
    squares: npt.NDArray[np.uint32]


class Matrix:
    """All vectors of one model.

    Args:
        model: its id in the catalog.
        dim: width of a row.
    """

    def __init__(self, model: int, dim: int) -> None:
        self.model = model
        self.dim = dim
        self.size = 0
        self.lock = Lock()
        """To be held by whoever refreshes the matrix and then looks at what it got."""
        self._blocks: list[Int8Array] = []
        self.versions: IntArray = np.empty(0, np.int64)
        """(size,) card version of each row."""
        self.positions: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        """(size,) position of each row's chunk."""
        self.squares: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        """(size,) squared length of each row."""
        self._known: dict[int, int] = {}
        self._changed = -1

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Add the rows that this connection sees and the matrix lacks.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        cursor = connection.execute(
            "SELECT version, changed, positions, content, checksum FROM vectors WHERE model = ? AND changed > ?",
            (self.model, self._changed),
        )
        parts = [_Rows(self.versions, self.positions, self.squares)]
        while batch := cursor.fetchmany(_FETCH_ROWS):
            parts.append(self._read(batch))
        self.versions = np.concatenate([part.versions for part in parts])
        self.positions = np.concatenate([part.positions for part in parts])
        self.squares = np.concatenate([part.squares for part in parts])

    def _read(self, batch: list[tuple[int, int, bytes, bytes, int]]) -> _Rows:
        """Take the vectors of some cards, without those that are there already."""
        fresh: list[CardVectors] = []
        for version, changed, positions, content, expected in batch:
            if codec.checksum(positions, content) != expected:
                raise sqlite3.DatabaseError(f"the vectors of card version {version} are damaged")
            vectors = CardVectors.decode(positions, content, self.dim)
            fresh.append(vectors.after(self._known.get(version, 0)))
            self._known[version] = len(vectors.positions)
            self._changed = max(self._changed, changed)
        self._append(np.concatenate([vectors.rows for vectors in fresh]))
        return _Rows(
            np.repeat([row[0] for row in batch], [len(vectors.positions) for vectors in fresh]),
            np.concatenate([vectors.positions for vectors in fresh]),
            np.concatenate([vectors.squares for vectors in fresh]),
        )

    def _append(self, rows: Int8Array) -> None:
        while len(rows):
            used = self.size % _BLOCK_ROWS
            if used == 0:
                self._blocks.append(np.empty((_BLOCK_ROWS, self.dim), np.int8))
            part = rows[: _BLOCK_ROWS - used]
            self._blocks[-1][used : used + len(part)] = part
            self.size += len(part)
            rows = rows[len(part) :]

    def dots(self, query: Int8Array, size: int) -> npt.NDArray[np.int32]:
        """(size,) exact dot products of the query (dim,) with the first ``size`` rows."""
        found = np.empty(size, np.int32)
        for start in range(0, size, _BLOCK_ROWS):
            block = self._blocks[start // _BLOCK_ROWS][: size - start]
            found[start : start + len(block)] = _dots(block, query)
        return found

    def take(self, rows: IntArray) -> Int8Array:
        """(n, dim) a copy of some rows; a negative number gives a row of zeros."""
        found = np.zeros((len(rows), self.dim), np.int8)
        block_of = rows // _BLOCK_ROWS
        for block in distinct(block_of):
            if block >= 0:
                chosen = block_of == block
                found[chosen] = self._blocks[block][rows[chosen] % _BLOCK_ROWS]
        return found

    def without(self, dead: npt.NDArray[np.bool_]) -> Matrix:
        """A copy without the rows that are True in ``dead`` (rows,); rows that came later stay."""
        kept = np.flatnonzero(~np.pad(dead, (0, self.size - len(dead))))
        copy = Matrix(self.model, self.dim)
        for start in range(0, len(kept), _BLOCK_ROWS):
            copy._append(self.take(kept[start : start + _BLOCK_ROWS]))
        copy.versions, copy.positions = self.versions[kept], self.positions[kept]
        copy.squares = self.squares[kept]
        alive = set(copy.versions.tolist())
        copy._known = {version: count for version, count in self._known.items() if version in alive}
        copy._changed = self._changed
        return copy


def _dots(block: Int8Array, query: Int8Array) -> npt.NDArray[np.float64]:
    if _HAS_NUMKONG:
        return np.asarray(numkong.dot(block, query), np.float64)
    # Exact as well, up to 1,000 wide: whole numbers below 2**24.
    return np.asarray(block.astype(np.float32) @ query.astype(np.float32), np.float64)
