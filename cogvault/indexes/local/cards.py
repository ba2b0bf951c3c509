"""Cards in memory: what a view knows of its cards without opening a file or reading a text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from cogvault.errors import SnapshotExpired
from cogvault.indexes.infos import mtime
from cogvault.indexes.local import codec
from cogvault.indexes.local.schema import many
from cogvault.types import CardInfo, IntArray, KnownFile, Stamp

_ALIVE = "SELECT version, changed FROM cards WHERE born <= ? AND dead > ?"
_ROWS = """SELECT version, changed, id, chunks, size, mtime_ns, inode, ctime_ns, hash, card, shape, checksum FROM cards
    WHERE version IN (SELECT value FROM json_each(?))"""


class CardRow:
    """One card version; its details are decoded when first asked for."""

    __slots__ = ("_card", "_hash", "_info", "_stamp", "changed", "chunks", "id", "shape", "version")

    def __init__(self, row: tuple[int, int, str, int, int, int, int, int, str, str, bytes, int]) -> None:
        self.version, self.changed, self.id, self.chunks = row[:4]
        self._stamp = Stamp(*row[4:8])
        self._hash, self._card, shape, expected = row[8:]
        if card_checksum(self.id, self._stamp, self._hash, self._card, shape) != expected:
            raise sqlite3.DatabaseError(f"the row of card {self.id} is damaged")
        self.shape = shape
        self._info: CardInfo | None = None

    @property
    def file(self) -> KnownFile:
        """The card's file, without decoding more of the card than its path."""
        # In this order: another thread sets the decoded card before it drops the row.
        row, info = self._card, self._info
        path = info.path if info is not None else codec.decode_path(row)
        return KnownFile(path, self._stamp, self._hash)

    @property
    def info(self) -> CardInfo:
        """The card as the index shows it."""
        row, info = self._card, self._info
        if info is None:
            info = codec.decode_card(
                row,
                id=self.id,
                stamp=self._stamp,
                hash=self._hash,
                chunks=self.chunks,
                mtime=mtime(self._stamp),
            )
            self._info = info
            self._card = ""
        return info


def card_checksum(id: str, stamp: Stamp, hash: str, card: str, shape: bytes) -> int:
    """Checksum of a row of ``cards``."""
    numbers = f"{stamp.size} {stamp.mtime_ns} {stamp.inode} {stamp.ctime_ns}"
    return codec.checksum(f"{id} {numbers} {hash} {card}".encode(), shape)


class CardList(Sequence[CardInfo]):
    """Cards in id order, each decoded when first looked at."""

    def __init__(self, rows: Sequence[CardRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[CardInfo]:
        return (row.info for row in self._rows)

    @overload
    def __getitem__(self, index: int) -> CardInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CardInfo]: ...
    def __getitem__(self, index: int | slice) -> CardInfo | Sequence[CardInfo]:
        if isinstance(index, slice):
            return CardList(self._rows[index])
        return self._rows[index].info


@dataclass(frozen=True, slots=True)
class Located:
    """Where some chunks are.

    Attributes:
        slots: (n,) their cards, as numbered by ``CardTable.starts``.
        positions: (n,) their positions in the card.
    """

    slots: IntArray
    positions: IntArray


class CardTable:
    """The card versions that are alive at one sequence number.

    A card has a *place* (its index by id, as in ``Snapshot.cards``) and a *slot* (its index by version). A chunk has a
    *row*: chunks are numbered slot by slot, in reading order.
    """

    def __init__(self, rows: Sequence[CardRow]) -> None:
        self.rows = sorted(rows, key=lambda row: row.id)
        self.cards = CardList(self.rows)
        versions = np.array([row.version for row in self.rows], np.int64)
        self.versions: IntArray = versions
        """(cards,) version of each place."""
        self.places: IntArray = np.argsort(versions)
        """(cards,) place of each slot."""
        self.starts: IntArray = versions[self.places]
        """(cards,) version of each slot, ascending: the id of its first chunk."""
        self.counts: IntArray = np.array([row.chunks for row in self.rows], np.int64)[self.places]
        """(cards,) chunks of each slot."""
        self.first_rows: IntArray = np.concatenate([[0], np.cumsum(self.counts)])
        """(cards + 1,) row of each slot's head chunk; last, the number of chunks."""

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return int(self.first_rows[-1])

    def locate(self, chunks: IntArray) -> Located:
        """Slots and positions of chunk ids (n,).

        Raises:
            SnapshotExpired: this view has no such chunk.
        """
        slots = np.searchsorted(self.starts, chunks, side="right") - 1
        positions = chunks - self.starts[slots] if len(self.starts) else chunks
        lost = (slots < 0) | (positions >= self.counts[slots]) if len(self.starts) else np.ones(len(chunks), np.bool_)
        if lost.any():
            raise SnapshotExpired(f"this view has no chunk {int(chunks[lost][0])}", hint="take a new snapshot")
        return Located(slots, positions)

    def find(self, versions: IntArray) -> IntArray:
        """Slots of card versions (n,); -1 for those that are not in the table."""
        if not len(self.starts):
            return np.full(len(versions), -1, np.int64)
        slots = np.minimum(np.searchsorted(self.starts, versions), len(self.starts) - 1)
        return np.where(self.starts[slots] == versions, slots, -1)

    def place_of(self, id: str) -> int | None:
        """Place of a card; None when there is no such card."""
        return self._by_id.get(id)

    @cached_property
    def newest(self) -> IntArray:
        """(cards,) slots, newest card first; cards of one date by id."""
        place_order = sorted(range(len(self.rows)), key=lambda place: self.cards[place].dated, reverse=True)
        slot_of = np.argsort(self.places)
        return slot_of[np.array(place_order, np.int64)]

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {row.id: place for place, row in enumerate(self.rows)}

    @cached_property
    def words_before(self) -> IntArray:
        """(chunks + 1,) words in all chunks before each row; last, words in the index."""
        return np.concatenate([[0], np.cumsum(self._shape.lengths, dtype=np.int64)])

    @property
    def mean_length(self) -> float:
        """Words in the average chunk."""
        return float(self.words_before[-1]) / max(1, self.chunks)

    @property
    def embeddable(self) -> npt.NDArray[np.bool_]:
        """(chunks,) whether the chunk of each row should have a vector."""
        return self._shape.embeddable

    @cached_property
    def _shape(self) -> codec.Shape:
        return codec.decode_shapes([self.rows[place].shape for place in self.places.tolist()], self.counts)


class Roster:
    """Reads card rows once and hands them to one table after another."""

    def __init__(self) -> None:
        self._rows: dict[int, CardRow] = {}
        self._last: tuple[tuple[int, int], CardTable] | None = None

    def table(self, connection: sqlite3.Connection, sequence: int, stamped: int) -> CardTable:
        """The cards alive at a sequence number.

        Args:
            connection: to the catalog.
            sequence: the view's.
            stamped: the last change of any card, as the connection sees it; the table is the same while both are.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        if self._last is None or self._last[0] != (sequence, stamped):
            self._last = ((sequence, stamped), CardTable(self._read(connection, sequence)))
        return self._last[1]

    def _read(self, connection: sqlite3.Connection, sequence: int) -> list[CardRow]:
        alive = dict(connection.execute(_ALIVE, (sequence, sequence)).fetchall())
        held = self._rows
        missing = [v for v, changed in alive.items() if v not in held or held[v].changed != changed]
        if missing:
            held = held | {row[0]: CardRow(row) for row in connection.execute(_ROWS, (many(missing),))}
        self._rows = {version: held[version] for version in alive}
        return list(self._rows.values())
