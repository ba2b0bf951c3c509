"""LocalSnapshot: the questions of ``Snapshot``, answered from one view and one read transaction."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock

import numpy as np

from cogvault.errors import IndexFault, SnapshotExpired
from cogvault.indexes.local import codec, search
from cogvault.indexes.local.damage import MISREAD, is_damage
from cogvault.indexes.local.evidence import evidence
from cogvault.indexes.local.lexical import LexicalDamaged
from cogvault.indexes.local.rows import RowFiles
from cogvault.indexes.local.schema import TEXT_BLOCK, many
from cogvault.indexes.local.search import Reader
from cogvault.indexes.local.verify import verify
from cogvault.types import (
    BoolArray,
    CardInfo,
    CardLayers,
    Chunk,
    Evidence,
    Filter,
    FloatArray,
    IndexStats,
    IntArray,
    KnownFile,
    Ranking,
    StoredChunk,
    Term,
)

_TEXTS = "SELECT chunk, content, checksum FROM texts WHERE chunk IN (SELECT value FROM json_each(?))"
_LAYERS = "SELECT version, content, checksum FROM layers WHERE version IN (SELECT value FROM json_each(?))"


class LocalSnapshot:
    """A view and a read transaction, which ends when the snapshot is no longer referred to.

    Args:
        reader: the view and the connection.
        stats: size and state of the view, at the time of the snapshot.
        release: ends the transaction.
        damaged: told of damage that shows itself during a call.
    """

    def __init__(
        self,
        reader: Reader,
        stats: IndexStats,
        release: Callable[[sqlite3.Connection], None],
        damaged: Callable[[Exception], None],
    ) -> None:
        self._reader = reader
        self.stats = stats
        """See ``Snapshot.stats``."""
        self._damaged = damaged
        # One connection serves one thread at a time.
        self._lock = RLock()
        weakref.finalize(self, release, reader.connection)

    @property
    def is_sound(self) -> bool:
        """False while the keyword part is damaged."""
        return self._reader.view.lexical is not None

    @property
    def keyword_folder(self) -> str:
        """Name of the keyword part's folder."""
        return self._reader.view.state.keyword

    @property
    def is_waiting(self) -> bool:
        """True while new cards wait to be put into the keyword part; all questions are answered as if they were."""
        waiting = self._reader.view.waiting_cards
        return waiting is None or not waiting.is_none

    @property
    def cards(self) -> Sequence[CardInfo]:
        """See ``Snapshot.cards``; the same object for all snapshots between two changes of cards."""
        return self._reader.view.table.cards

    @property
    def files(self) -> Mapping[str, KnownFile]:
        """See ``Snapshot.files``."""
        return RowFiles(self._reader.view.table.rows)

    def keyword(self, terms: Sequence[Term], filter: Filter, limit: int) -> Ranking:
        """See ``Snapshot.keyword``."""
        with self._reading() as reader:
            return search.keyword(reader, terms, filter, limit)

    def semantic(self, vector: FloatArray, filter: Filter, limit: int) -> Ranking:
        """See ``Snapshot.semantic``."""
        with self._reading() as reader:
            return search.semantic(reader, vector, filter, limit)

    def evidence(self, chunks: IntArray, terms: Sequence[Term], vector: FloatArray | None, window: int) -> Evidence:
        """See ``Snapshot.evidence``."""
        with self._reading() as reader:
            return evidence(reader, chunks, terms, vector, window)

    def chunks(self, ids: Sequence[int]) -> list[StoredChunk]:
        """See ``Snapshot.chunks``."""
        with self._reading() as reader:
            return _chunks(reader, np.array(ids, np.int64))

    def of_card(self, id: str) -> list[StoredChunk]:
        """See ``Snapshot.of_card``."""
        table = self._reader.view.table
        place = table.place_of(id)
        if place is None:
            return []
        row = table.rows[place]
        return self.chunks(range(row.version, row.version + row.chunks))

    def layers(self, ids: Sequence[str]) -> list[CardLayers]:
        """See ``Snapshot.layers``."""
        table = self._reader.view.table
        places = [table.place_of(id) for id in ids]
        versions = [None if place is None else table.rows[place].version for place in places]
        with self._reading() as reader:
            found: dict[int | None, CardLayers] = {None: CardLayers("", "")}
            wanted = [version for version in versions if version is not None]
            for version, content, expected in reader.connection.execute(_LAYERS, (many(wanted),)):
                _check(expected, content, "layers", version)
                found[version] = codec.decode_layers(content)
            return [found[version] for version in versions]

    def pending(self, model: str, limit: int) -> list[StoredChunk]:
        """See ``Snapshot.pending``."""
        with self._reading() as reader:
            table = reader.view.table
            missing = table.embeddable & ~reader.view.has_vector(reader.connection, model)
            return _chunks(reader, _newest_first(reader, missing, limit))

    def verify(self) -> list[str]:
        """Faults of everything that the view reads; see ``Index.verify``."""
        with self._lock:
            return verify(self._reader)

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        """The reader, for one thread; whatever is wrong with the files becomes an error that says what to do."""
        with self._lock:
            try:
                yield self._reader
            except (sqlite3.Error, LexicalDamaged) as error:
                if isinstance(error, LexicalDamaged) or is_damage(error):
                    self._damaged(error)
                    raise SnapshotExpired(f"the index is damaged: {error}", hint="take a new snapshot") from error
                raise IndexFault(f"the index cannot be read: {error}", hint="is it closed?") from error
            except MISREAD as error:
                faults = verify(self._reader)
                if not faults:  # then it is nobody's but this program's
                    raise
                self._damaged(sqlite3.DatabaseError(faults[0]))
                raise SnapshotExpired(f"the index is damaged: {faults[0]}", hint="take a new snapshot") from error


def _newest_first(reader: Reader, missing: BoolArray, limit: int) -> IntArray:
    """Ids of at most ``limit`` of the chunks that are True by row, newest card first; cards of one date by id."""
    table = reader.view.table
    rows = np.flatnonzero(missing)
    slots = np.searchsorted(table.first_rows, rows, side="right") - 1
    places = table.places[slots]
    order = np.lexsort((rows, places, -table.dated[places]))[: max(0, limit)] if len(rows) else rows
    return table.starts[slots[order]] + rows[order] - table.first_rows[slots[order]]


def _chunks(reader: Reader, ids: IntArray) -> list[StoredChunk]:
    table = reader.view.table
    located = table.locate(ids)
    blocks = (ids - located.positions % TEXT_BLOCK).tolist()
    wanted: dict[int, list[int]] = {}
    for id, block in zip(ids.tolist(), blocks, strict=True):
        wanted.setdefault(block, []).append(id)
    chunks: dict[int, Chunk] = {}
    try:
        for block, content, expected in reader.connection.execute(_TEXTS, (many(wanted),)):
            _check(expected, content, "text", block)
            own = wanted[block]
            chunks.update(zip(own, codec.decode_chunks(content, [id - block for id in own]), strict=True))
        return [
            StoredChunk(id, table.rows[place].id, chunks[id])
            for id, place in zip(ids.tolist(), table.places[located.slots].tolist(), strict=True)
        ]
    except (KeyError, IndexError) as error:
        raise sqlite3.DatabaseError("the text of a chunk is missing") from error


def _check(expected: int, content: bytes, what: str, id: int) -> None:
    if codec.checksum(content) != expected:
        raise sqlite3.DatabaseError(f"{what} {id}: its checksum is wrong")
