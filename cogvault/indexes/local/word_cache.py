"""Words of the cards last looked at, kept from one question to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from cogvault.indexes.local import codec
from cogvault.indexes.local.arrays import distinct
from cogvault.indexes.local.schema import many
from cogvault.types import IntArray

__all__ = ["WordCache"]

_FORWARD = "SELECT version, content, checksum FROM forward WHERE version IN (SELECT value FROM json_each(?))"
_CAPACITY_BYTES = 24 * 2**20

_Number = TypeVar("_Number", bound=np.integer[Any])


class WordCache:
    """Words by card version. What a version holds never changes, so views of any age share it, and threads too.

    All words are in one array, so that a thousand cards are read in one go: as an object each they would be as many
    places of memory, none of which a CPU still knows from the question before.
    """

    def __init__(self) -> None:
        self._adding = Lock()
        self._held = _Held()

    def read(self, connection: sqlite3.Connection, versions: IntArray) -> IntArray:
        """Word ids of all chunks of some cards, card after card.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        held, first, sizes = self._found(connection, versions)
        return held.words(first, sizes)

    def read_parts(
        self, connection: sqlite3.Connection, versions: IntArray, first: IntArray, end: IntArray
    ) -> IntArray:
        """Word ids of parts of cards, part after part.

        Args:
            connection: to the catalog.
            versions: (n,) the card of each part; one may have several.
            first: (n,) where the part starts in its card's words.
            end: (n,) where it ends.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        held, starts, sizes = self._found(connection, versions)
        if (end > sizes).any():
            raise sqlite3.DatabaseError("a card holds fewer words than its chunks")
        return held.words(starts + first, end - first)

    def _found(self, connection: sqlite3.Connection, versions: IntArray) -> tuple[_Held, IntArray, IntArray]:
        """Where the words of some cards are, after those were read that are nowhere; see ``_Held.find``."""
        held = self._held
        first, sizes = held.find(versions)
        if (first >= 0).all():
            return held, first, sizes
        with self._adding:
            held = self._held
            if held.size > _CAPACITY_BYTES:
                held = self._held = _Held()  # others may be reading the old one
            missing = distinct(versions[held.find(versions)[0] < 0])
            held.add(missing, _rows(connection, missing))
            return held, *held.find(versions)


class _Known(NamedTuple):
    """What the arrays of words hold.

    Attributes:
        cards: version, place of the first word, and number of words of each card, ascending. The first stands for none.
        short: words in use.
        long: of those that do not fit into 16 bits.
    """

    cards: IntArray
    short: int
    long: int


class _Held:
    """Words of some cards. More come, and none goes or changes, so that others may read while one thread adds."""

    def __init__(self) -> None:
        self._known = _Known(np.array([[-1], [-1], [0]]), 0, 0)
        self._short: npt.NDArray[np.uint16] = np.empty(0, np.uint16)
        # Words that do not fit into 16 bits, and their places in the other array, where a mark is.
        self._long: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self._long_places: IntArray = np.empty(0, np.int64)

    @property
    def size(self) -> int:
        """In bytes."""
        return 2 * self._known.short + 12 * self._known.long + self._known.cards.nbytes

    def find(self, versions: IntArray) -> tuple[IntArray, IntArray]:
        """(n,) where the words of some cards begin, -1 = they are not here; (n,) how many they are."""
        known, first, sizes = self._known.cards
        places = known.searchsorted(versions, side="right") - 1
        return np.where(known[places] == versions, first[places], -1), sizes[places]

    def words(self, first: IntArray, sizes: IntArray) -> IntArray:
        """Word ids of runs of words that are here, by where each begins and how long it is."""
        ends = first + sizes
        # Slice by slice: long cards are copied sooner than each of their words is looked up.
        stored = self._short.data.cast("B")
        runs = zip((2 * first).tolist(), (2 * ends).tolist(), strict=True)
        short = np.frombuffer(b"".join([stored[start:end] for start, end in runs]), np.uint16)
        words = short.astype(np.int64)
        marks = (short == codec.LONG).nonzero()[0]
        if len(marks):
            after = sizes.cumsum()
            run = after.searchsorted(marks, side="right")
            places = marks - after[run] + ends[run]
            words[marks] = self._long[self._long_places[: self._known.long].searchsorted(places)]
        return words

    def add(self, versions: IntArray, rows: Sequence[codec.PackedWords]) -> None:
        """Take more cards, which are not here; versions ascend."""
        short = np.frombuffer(b"".join([own for own, _ in rows]), "<u2")
        long = np.frombuffer(b"".join([own for _, own in rows]), "<u4")
        marks = (short == codec.LONG).nonzero()[0]
        if len(marks) != len(long):
            raise ValueError("the words of a card are cut off")
        cards, used, used_long = self._known
        sizes = np.array([len(own) // 2 for own, _ in rows], np.int64)
        self._short = _with(self._short, used, short)
        self._long = _with(self._long, used_long, long)
        self._long_places = _with(self._long_places, used_long, used + marks)
        new = np.array([versions, used + sizes.cumsum() - sizes, sizes])
        cards = np.insert(cards, cards[0].searchsorted(versions), new, axis=1)
        # Last: what is broken off before, by Ctrl-C for example, was never there.
        self._known = _Known(cards, used + len(short), used_long + len(long))


def _with(held: npt.NDArray[_Number], used: int, more: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """An array with more numbers behind those that are used, the same one while it has room."""
    end = used + len(more)
    if end > len(held):
        grown = np.empty(max(end, 2 * len(held)), held.dtype)
        grown[:used] = held[:used]
        held = grown
    held[used:end] = more
    return held


def _rows(connection: sqlite3.Connection, versions: IntArray) -> list[codec.PackedWords]:
    """Stored words of some cards, in ascending order of their versions.

    Raises:
        sqlite3.DatabaseError: a row is missing or damaged.
    """
    found: dict[int, codec.PackedWords] = {}
    for version, content, expected in connection.execute(_FORWARD, (many(versions.tolist()),)):
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the words of card version {version} are damaged")
        found[version] = codec.unpack_words(content)
    try:
        return [found[version] for version in versions.tolist()]
    except KeyError as error:
        raise sqlite3.DatabaseError(f"the words of card version {error} are missing") from error
