"""Rows of the catalog's cards in memory, each decoded when first looked at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from threading import Lock
from typing import TypeAlias, overload

from cogvault.indexes.difference import Difference, History
from cogvault.indexes.infos import mtime
from cogvault.indexes.local import codec
from cogvault.types import CardInfo, KnownFile, Stamp

RowValues: TypeAlias = tuple[int, int, str, int, int, int, int, int, str, str, bytes, int]
COLUMNS = "version, changed, id, chunks, size, mtime_ns, inode, ctime_ns, hash, card, shape, checksum"
"""Of ``cards``, as ``RowValues``."""

_PROBLEMS = '"problems":'

# Two threads that look at a row for the first time get the same card. One for all rows: it is held for a decoding.
_DECODING = Lock()


class CardRow:
    """One card version; its details are decoded when first asked for."""

    __slots__ = ("_card", "_hash", "_info", "_stamp", "changed", "chunks", "id", "shape", "version")

    def __init__(self, row: RowValues) -> None:
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
    def has_problems(self) -> bool:
        """True when the card has problems; one without is not decoded for this."""
        row, info = self._card, self._info  # in this order, as above
        # A row names its problems only where it has some. The mark cannot stand in a text, whose quotes are escaped.
        return (info is not None or _PROBLEMS in row) and bool(self.info.problems)

    @property
    def info(self) -> CardInfo:
        """The card as the index shows it, always the same object."""
        if self._info is not None:
            return self._info
        with _DECODING:
            if self._info is None:
                self._info = codec.decode_card(
                    self._card,
                    id=self.id,
                    stamp=self._stamp,
                    hash=self._hash,
                    chunks=self.chunks,
                    mtime=mtime(self._stamp),
                )
                self._card = ""
            return self._info


class RowFiles(Mapping[str, KnownFile]):
    """Cards' files by id, each made when it is asked for.

    Args:
        rows: in id order.
    """

    def __init__(self, rows: Sequence[CardRow]) -> None:
        self._rows = rows

    @cached_property
    def _by_id(self) -> dict[str, CardRow]:
        return {row.id: row for row in self._rows}

    def __getitem__(self, id: str) -> KnownFile:
        return self._by_id[id].file

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def __iter__(self) -> Iterator[str]:
        return (row.id for row in self._rows)

    def __len__(self) -> int:
        return len(self._rows)


id_of = attrgetter("id")
"""Of a row or a card."""


def card_checksum(id: str, stamp: Stamp, hash: str, card: str, shape: bytes) -> int:
    """Checksum of a row of ``cards``."""
    numbers = f"{stamp.size} {stamp.mtime_ns} {stamp.inode} {stamp.ctime_ns}"
    return codec.checksum(f"{id} {numbers} {hash} {card}".encode(), shape)


class CardList(Sequence[CardInfo]):
    """Cards in id order, each decoded when first looked at. Knows how it came from earlier lists.

    Args:
        rows: in id order.
        history: what came to pass until these were the rows.
    """

    def __init__(self, rows: Sequence[CardRow], history: History[CardRow]) -> None:
        self._rows = rows
        self.history = history

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
            return [row.info for row in self._rows[index]]
        return self._rows[index].info

    def noted(self) -> list[CardInfo]:
        """See ``indexes.difference.Following``."""
        return [row.info for row in self._rows if row.has_problems]

    def since(self, before: Sequence[CardInfo]) -> Difference | None:
        """See ``indexes.difference.Following``."""
        step = self.history.since(before.history) if isinstance(before, CardList) else None
        if step is None:
            return None
        return Difference([row.info for row in step.gone], [row.info for row in step.come])
