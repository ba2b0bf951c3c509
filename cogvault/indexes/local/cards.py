"""The cards of one view as arrays: where each is, and how it is cut into chunks."""

from __future__ import annotations

import sqlite3
import weakref
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from cogvault.errors import SnapshotExpired
from cogvault.indexes.difference import History, Step
from cogvault.indexes.infos import EPOCH
from cogvault.indexes.local import codec
from cogvault.indexes.local.arrays import ranges
from cogvault.indexes.local.codec import Shape
from cogvault.indexes.local.rows import CardList, CardRow, id_of
from cogvault.indexes.local.splice import Splice
from cogvault.types import BoolArray, IntArray

_MICROSECOND = timedelta(microseconds=1)
_NO_CUTS = Splice(())


@dataclass(frozen=True, slots=True)
class Located:
    """Where some chunks are.

    Attributes:
        slots: (n,) their cards, as numbered by ``CardTable.starts``.
        positions: (n,) their positions in the card.
    """

    slots: IntArray
    positions: IntArray


@dataclass(frozen=True, slots=True)
class Origin:
    """How a table came from the one before it.

    Attributes:
        before: that table; it is not kept in memory for this.
        places, slots, rows: what became of each.
    """

    before: weakref.ref[CardTable]
    places: Splice
    slots: Splice
    rows: Splice


class CardTable:
    """The card versions that are alive at one sequence number. Never changes.

    A card has a *place* (its index by id, as in ``Snapshot.cards``) and a *slot* (its index by version). A chunk has a
    *row*: chunks are numbered slot by slot, in reading order.

    Args:
        rows: (cards,) by place.
        versions: (cards,) by place.
        places: (cards,) by slot.
        counts: (cards,) by slot.
        shape: of all chunks by row.
        history: how the rows came to be.
        origin: how the table came from another, None = it was made from nothing.
    """

    def __init__(
        self,
        rows: list[CardRow],
        versions: IntArray,
        places: IntArray,
        counts: IntArray,
        shape: Shape,
        history: History[CardRow],
        origin: Origin | None = None,
    ) -> None:
        self.rows = rows
        self.cards = CardList(rows, history)
        self.versions = versions
        """(cards,) version of each place."""
        self.places = places
        """(cards,) place of each slot."""
        self.counts = counts
        """(cards,) chunks of each slot."""
        self.starts: IntArray = versions[places]
        """(cards,) version of each slot, ascending: the id of its first chunk."""
        self.first_rows: IntArray = np.concatenate([[0], np.cumsum(counts)])
        """(cards + 1,) row of each slot's head chunk; last, the number of chunks."""
        self.words_before: IntArray = np.concatenate([[0], np.cumsum(shape.lengths, dtype=np.int64)])
        """(chunks + 1,) words in all chunks before each row; last, words in the index."""
        self.origin = origin
        self._shape = shape
        self._history = history
        self._window_words: dict[int, int] = {}
        self._dated: IntArray | None = None

    @classmethod
    def of(cls, rows: Sequence[CardRow]) -> CardTable:
        """A table from nothing.

        Args:
            rows: in any order.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        rows = sorted(rows, key=id_of)
        versions = np.array([row.version for row in rows], np.int64)
        places = np.argsort(versions)
        by_slot = [rows[place] for place in places.tolist()]
        counts = _counts(by_slot)
        return cls(rows, versions, places, counts, _shape(by_slot, counts), History())

    def changed(self, gone: Sequence[CardRow], come: Sequence[CardRow]) -> CardTable:
        """The next table.

        Args:
            gone: rows of this table that are no longer alive, or took another stamp.
            come: rows that are new, or such rows with their new stamp.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        by_place, by_slot = sorted(come, key=id_of), sorted(come, key=_version_of)
        gone_slots = np.sort(np.searchsorted(self.starts, [row.version for row in gone]))
        slots = _splice(gone_slots.tolist(), np.searchsorted(self.starts, [row.version for row in by_slot]).tolist())
        gone_places = np.sort(self.places[gone_slots]).tolist()
        places = _splice(gone_places, [bisect_left(self.rows, row.id, key=id_of) for row in by_place])
        counts, chunks = _counts(by_slot), iter(by_slot)
        rows = Splice(
            (int(self.first_rows[start]), int(self.first_rows[end]), next(chunks).chunks if count else 0)
            for start, end, count in slots.cuts
        )
        shape = _shape(by_slot, counts)
        place_of = dict(zip((row.version for row in by_place), places.come.tolist(), strict=True))
        moved = places.moved(len(self.rows))[self.places]
        table = CardTable(
            places.sequence(self.rows, by_place),
            places.array(self.versions, np.array([row.version for row in by_place], np.int64)),
            slots.array(moved, np.array([place_of[row.version] for row in by_slot], np.int64)),
            slots.array(self.counts, counts),
            Shape(rows.array(self._shape.lengths, shape.lengths), rows.array(self._shape.embeddable, shape.embeddable)),
            self._history.then(Step(gone, come)),
            Origin(weakref.ref(self), places, slots, rows),
        )
        # A search of this table may ask for another window meanwhile.
        for window, total in self._window_words.copy().items():
            went = _window_words(self._lengths_of(gone_slots), self.counts[gone_slots], window)
            table._window_words[window] = total - went + _window_words(shape.lengths, counts, window)
        if self._dated is not None:
            table._dated = places.array(self._dated, _dates(by_place))
        return table

    def step_from(self, table: CardTable) -> Origin | None:
        """What became of everything in another table; None = this one was not made from it."""
        if table is self:
            return Origin(weakref.ref(self), _NO_CUTS, _NO_CUTS, _NO_CUTS)
        return self.origin if self.origin is not None and self.origin.before() is table else None

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return int(self.first_rows[-1])

    def locate(self, chunks: IntArray) -> Located:
        """Slots and positions of chunk ids (n,).

        Raises:
            SnapshotExpired: this view has no such chunk.
        """
        located, lost = self._sought(chunks)
        if lost.any():
            raise SnapshotExpired(f"this view has no chunk {int(chunks[lost][0])}", hint="take a new snapshot")
        return located

    def holds(self, chunks: IntArray) -> BoolArray:
        """(n,) which chunk ids are of a card of the table."""
        return ~self._sought(chunks)[1]

    def _sought(self, chunks: IntArray) -> tuple[Located, BoolArray]:
        """Where chunks are, and which of them are nowhere."""
        slots = self.starts.searchsorted(chunks, side="right") - 1
        positions = chunks - self.starts[slots] if len(self.starts) else chunks
        lost = (slots < 0) | (positions >= self.counts[slots]) if len(self.starts) else np.ones(len(chunks), np.bool_)
        return Located(slots, positions), lost

    def find(self, versions: IntArray) -> IntArray:
        """Slots of card versions (n,); -1 for those that are not in the table."""
        if not len(self.starts):
            return np.full(len(versions), -1, np.int64)
        slots = np.minimum(np.searchsorted(self.starts, versions), len(self.starts) - 1)
        return np.where(self.starts[slots] == versions, slots, -1)

    def place_of(self, id: str) -> int | None:
        """Place of a card; None when there is no such card."""
        place = bisect_left(self.rows, id, key=id_of)
        return place if place < len(self.rows) and self.rows[place].id == id else None

    @property
    def dated(self) -> IntArray:
        """(cards,) date of the card at each place, microseconds since 1970."""
        if self._dated is None:
            self._dated = _dates(self.rows)
        return self._dated

    @property
    def mean_length(self) -> float:
        """Words in the average chunk."""
        return float(self.words_before[-1]) / max(1, self.chunks)

    def mean_window(self, window: int) -> float:
        """Words in the average window of this many chunks either side; a head chunk is its own window."""
        if window not in self._window_words:
            self._window_words[window] = _window_words(self._shape.lengths, self.counts, window)
        return self._window_words[window] / max(1, self.chunks)

    @property
    def embeddable(self) -> npt.NDArray[np.bool_]:
        """(chunks,) whether the chunk of each row should have a vector."""
        return self._shape.embeddable

    def _lengths_of(self, slots: IntArray) -> npt.NDArray[np.uint32]:
        return self._shape.lengths[ranges(self.first_rows[slots], self.counts[slots])]


def windows(first_rows: IntArray, chunk_rows: IntArray, window: int) -> tuple[IntArray, IntArray]:
    """First row, and row after the last, of the windows around chunks.

    Args:
        first_rows: as in ``CardTable``.
        chunk_rows: (n,) rows of the chunks.
        window: body chunks either side.
    """
    slots = first_rows.searchsorted(chunk_rows, side="right") - 1
    head = first_rows[slots]
    first = np.maximum(head + 1, chunk_rows - window)
    end = np.minimum(first_rows[slots + 1], chunk_rows + window + 1)
    is_head = chunk_rows == head
    return np.where(is_head, head, first), np.where(is_head, head + 1, end)


def _window_words(lengths: npt.NDArray[np.uint32], counts: IntArray, window: int) -> int:
    """Words in all windows of some cards."""
    first_rows = np.concatenate([[0], np.cumsum(counts)])
    first, end = windows(first_rows, np.arange(first_rows[-1]), window)
    before = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return int((before[end] - before[first]).sum())


def _splice(gone: Sequence[int], come: Sequence[int]) -> Splice:
    """Of single values: old indices that go, and old indices before which new ones come, both in order."""
    return Splice(sorted([*((place, place, 1) for place in come), *((place, place + 1, 0) for place in gone)]))


def _counts(rows: Sequence[CardRow]) -> IntArray:
    return np.array([row.chunks for row in rows], np.int64)


def _shape(rows: Sequence[CardRow], counts: IntArray) -> Shape:
    try:
        return codec.decode_shapes([row.shape for row in rows], counts)
    except ValueError as error:
        raise sqlite3.DatabaseError(str(error)) from error


def _dates(rows: Sequence[CardRow]) -> IntArray:
    return np.array([(row.info.dated - EPOCH) // _MICROSECOND for row in rows], np.int64)


def _version_of(row: CardRow) -> int:
    return row.version
