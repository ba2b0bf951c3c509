"""LocalIndex: an index in a folder, for one machine, many processes and up to a million chunks."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import RLock

from cogvault.errors import IndexFault
from cogvault.indexes.infos import latest
from cogvault.indexes.local import writer
from cogvault.indexes.local.damage import MISREAD, is_damage
from cogvault.indexes.local.heap import share_heaps
from cogvault.indexes.local.lexical import LexicalDamaged, LexicalView
from cogvault.indexes.local.pool import ReadPool, file_identity
from cogvault.indexes.local.roster import Roster
from cogvault.indexes.local.schema import State, comes_from, read_state
from cogvault.indexes.local.search import Reader
from cogvault.indexes.local.segments import faults
from cogvault.indexes.local.snapshot import LocalSnapshot
from cogvault.indexes.local.store import Store
from cogvault.indexes.local.vectors import Matrix
from cogvault.indexes.local.view import View
from cogvault.indexes.local.vocabulary import Vocabulary
from cogvault.indexes.local.waiting import WaitingCards, waiting_cards
from cogvault.indexes.local.word_cache import WordCache
from cogvault.types import ChangeSet, IndexStats

logger = logging.getLogger(__name__)

_ATTEMPTS = 6
_WITHOUT_KEYWORD = "the keyword index is damaged; until it is made anew, every chunk is compared with the query"
# A matrix with more dead rows than this share, and more than a few, is copied without them.
_DEAD_SHARE = 0.3
_DEAD_ROWS = 4096
# An index that is larger keeps what it read: reading it again takes longer than some 20 ms.
_RESTING_CHUNKS = 2000
# A change of so many cards is one of a row.
_MANY_CARDS = 100


class _Behind(Exception):
    """The read transaction began before the keyword folder's last commit: begin another."""


class LocalIndex:
    """Implements ``Index`` in a folder.

    Args:
        folder: where the index is or will be; made, private to the user, when missing.
        read_only: write nothing.
        threads: threads that may index a large change, None = one.
    """

    def __init__(self, folder: Path, *, read_only: bool = False, threads: int | None = None) -> None:
        share_heaps()
        self._read_only = read_only
        self._store = Store(folder, threads or 1)
        self._lock = RLock()
        self._closed = False
        self._pool: ReadPool | None = None
        self._roster = Roster()
        self._words = WordCache()
        self._matrix: Matrix | None = None
        self._vocabulary: Vocabulary | None = None
        self._view: View | None = None

    def apply(self, change: ChangeSet) -> int:
        """See ``Index.apply``."""
        if self._read_only:
            raise IndexFault("the index was opened for reading only", path=self._store.folder)
        records = writer.analyzed(latest(change.put))
        for _ in range(_ATTEMPTS):
            self._check_open()
            try:
                return self._applied(change, records)
            except sqlite3.Error as error:
                self._recover(error)
            except MISREAD as error:
                self._misread(error)
        raise IndexFault("the index could not be repaired", path=self._store.folder)

    def _applied(self, change: ChangeSet, records: list[writer.Analyzed]) -> int:
        with self._store.writing() as connection:
            # Whatever a killed writer left undone comes first; and what waits, unless this change can wait beside it.
            size = sum(len(record.words) for record in records) + len(records) + len(change.remove)
            self._store.publish(connection, room=size)
            state = writer.commit(connection, change, records, self._store.keys)
            self._store.publish(connection, room=0)
            if len(records) < _MANY_CARDS:
                # What many cards in a row shared.
                self._store.keys.forget()
            return state.sequence

    def snapshot(self) -> LocalSnapshot:
        """See ``Index.snapshot``."""
        fault: Exception | None = None
        behind = 0
        for _ in range(_ATTEMPTS):
            self._check_open()
            try:
                return self._begin()
            except _Behind:
                behind += 1
                if behind == _ATTEMPTS // 2:
                    # Not for a moment, then: the catalog is an older one than the keyword folder was made from.
                    self._recover(LexicalDamaged("it is ahead of the catalog"))
            except sqlite3.Error as error:
                fault = error
                self._recover(error)
            except MISREAD as error:
                fault = error
                self._recover(sqlite3.DatabaseError(f"a row cannot be read: {error!r}"))
        raise IndexFault(f"the index could not be read: {fault}", path=self._store.folder)

    def verify(self) -> list[str]:
        """See ``Index.verify``."""
        snapshot = self.snapshot()
        if snapshot.is_waiting and self._healed():
            snapshot = self.snapshot()  # all of it can be compared now
        # Of the view's folder, whatever the store holds by now: one who rests it takes that away.
        folders = [self._store.folder / snapshot.keyword_folder] if snapshot.is_sound else []
        return [*snapshot.verify(), *(fault for folder in folders for fault in faults(folder))]

    def repair(self, progress: Callable[[int, int], None]) -> None:
        """See ``Index.repair``."""
        if self._read_only or self.snapshot().is_sound:
            return
        try:
            with self._store.writing() as connection:
                self._store.publish(connection, progress)
        except sqlite3.Error as error:
            self._recover(error)

    def reset(self, fault: str) -> None:
        """See ``Index.reset``."""
        self._check_open()
        self._recover(sqlite3.DatabaseError(fault))

    def rest(self) -> bool:
        """Give back what was read of a small index, which the next use reads again; False = there is nothing to give.

        Snapshots that are in use go on. Of a large index only what commits in a row shared goes. A view that is being
        made at this moment is not waited for: who makes it needs it.
        """
        self._store.keys.forget()
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._view is None or self._view.table.chunks > _RESTING_CHUNKS:
                return False
            self._forget()
        finally:
            self._lock.release()
        self._store.rest()
        return True

    def close(self) -> None:
        """See ``Index.close``."""
        with self._lock:
            self._closed = True
            self._forget()
        self._store.close()

    def _check_open(self) -> None:
        if self._closed:
            raise IndexFault("the index is closed", path=self._store.folder)

    def _begin(self) -> LocalSnapshot:
        pool, last = self._opened(), self._view
        connection = pool.begin()
        try:
            state = read_state(connection)
            if last is not None and not comes_from(connection, state, last.state):
                with self._lock:
                    if self._view is last:
                        self._forget()  # another catalog, or an older one, was copied over the one that was read
                raise _Behind
            view = self._view_of(connection, state, *self._keyword(connection, state))
            stats = self._stats(view, connection)
        except BaseException:
            pool.end(connection)
            raise
        return LocalSnapshot(Reader(view, connection, self._words), stats, pool.end, self._damaged)

    def _opened(self) -> ReadPool:
        """Connections to the catalog that is there now, which is made when there is none."""
        with self._lock:
            if self._pool is not None and not self._pool.is_current:
                self._forget()
            if self._pool is None and (self._read_only or self._store.catalog.exists()):
                self._pool = ReadPool(self._store.catalog, read_only=self._read_only)
            if self._pool is not None:
                return self._pool
        with self._store.writing() as connection:
            self._store.publish(connection)
        raise _Behind

    def _keyword(self, connection: sqlite3.Connection, state: State) -> tuple[LexicalView | None, WaitingCards | None]:
        """The keyword part that goes with a state, and the few changes that wait for it.

        The first is None when it is damaged, and until it is made anew all does without. The second is None while a
        writer is about to put more into it than a search could do without: until then the view is one of before.
        """
        try:
            return self._sound_keyword(connection, state)
        except LexicalDamaged as error:
            self._recover(error)
            return None, WaitingCards()

    def _sound_keyword(self, connection: sqlite3.Connection, state: State) -> tuple[LexicalView, WaitingCards | None]:
        lexical, last = self._store.lexical(state), self._view
        if last is not None and last.is_settled(state, view := lexical.view):
            return view, last.waiting_cards
        if lexical.view.sequence != state.lexical:
            lexical.follow()
        view = lexical.view
        if view.sequence < state.published:
            raise LexicalDamaged(f"it reflects change {view.sequence}, the catalog {state.published}")
        if view.sequence > state.lexical:
            raise _Behind
        waiting = waiting_cards(connection, state, view)
        if (waiting is None or waiting.has_dead) and self._healed():
            raise _Behind
        return view, waiting

    def _healed(self) -> bool:
        """Finish what a killed writer began, unless a writer is at work."""
        if self._read_only:
            return False
        try:
            with self._store.writing(timeout=0) as connection:
                self._store.publish(connection)
        except IndexFault:
            return False
        return True

    def _view_of(
        self,
        connection: sqlite3.Connection,
        state: State,
        lexical: LexicalView | None,
        waiting: WaitingCards | None,
    ) -> View:
        with self._lock:
            last = self._view
            if last is not None:
                if last.state.sequence == state.sequence and last.lexical is lexical:
                    return last
                if last.state.sequence > state.sequence:
                    raise _Behind
            reached = lexical.sequence if lexical is not None and waiting is None else state.lexical
            table = self._roster.table(connection, reached, state.stamped)
            self._vocabulary = Vocabulary.refreshed(self._vocabulary, connection, state, table)
            self._matrix = self._matrix_of(connection, state, last)
            self._view = View(state, table, self._vocabulary, lexical, waiting, self._matrix, last)
            if last is not None and last.has_read_vectors:
                # Before the next change: vectors of a view are cheap to follow from the one before, and no other.
                self._view.vectors(connection)
            return self._view

    def _matrix_of(self, connection: sqlite3.Connection, state: State, last: View | None) -> Matrix | None:
        """The serving model's vectors, without the dead ones when they are many."""
        row = connection.execute(
            "SELECT id, dim FROM models WHERE fingerprint = ?", (state.decoded_identity().model,)
        ).fetchone()
        matrix = self._matrix
        if row is None:
            return None
        if matrix is None or matrix.model != row[0]:
            return Matrix(*row)
        dead = last.dead_vectors() if last is not None else None
        if dead is not None and dead.sum() > max(_DEAD_ROWS, _DEAD_SHARE * len(dead)):
            return matrix.without(dead)
        return matrix

    def _stats(self, view: View, connection: sqlite3.Connection) -> IndexStats:
        if view.stats is None or view.stats.notes != self._store.notes:
            view.stats = self._measured(view, connection)
        return view.stats

    def _measured(self, view: View, connection: sqlite3.Connection) -> IndexStats:
        return IndexStats(
            sequence=view.state.sequence,
            cards=len(view.table.cards),
            chunks=view.table.chunks,
            vectors=int(view.has_vector(connection, view.identity.model).sum()),
            embeddable=int(view.table.embeddable.sum()),
            identity=view.identity,
            bytes_on_disk=self._store.bytes_on_disk(),
            notes=self._store.notes,
            fault="" if view.lexical is not None else _WITHOUT_KEYWORD,
        )

    def _damaged(self, error: Exception) -> None:
        """Called by a snapshot that met damage, so that the next one finds it repaired."""
        try:
            self._recover(error)
        except IndexFault as fault:
            logger.warning("%s", fault)

    def _misread(self, error: Exception) -> None:
        """Do without what is damaged, if that made a change fail; else the error is the caller's, or this program's."""
        notes = self._store.notes
        if found := self.verify():
            self._recover(sqlite3.DatabaseError(found[0]))
        elif self._store.notes == notes:
            raise error

    def _recover(self, error: Exception) -> None:
        """Do without what an error says is damaged: the keyword part until it is made anew, the catalog for ever.

        Raises:
            IndexFault: it is no damage, or it cannot be repaired.
        """
        if isinstance(error, LexicalDamaged):
            self._store.distrust_lexical(str(error))
        elif not (isinstance(error, sqlite3.Error) and (is_damage(error) or self._store.is_blocked)):
            raise IndexFault(f"the index cannot be used: {error}", path=self._store.folder) from error
        elif self._read_only:
            raise IndexFault(
                f"the index is damaged: {error}", path=self._store.folder, hint="open it for writing to have it rebuilt"
            ) from error
        else:
            with self._lock:
                seen = self._pool.file if self._pool else file_identity(self._store.catalog)
                self._forget()
            self._store.replace_catalog(str(error), seen)

    def _forget(self) -> None:
        """Drop all that was read."""
        if self._pool is not None:
            self._pool.close()
        self._pool = self._matrix = self._vocabulary = self._view = None
        self._roster = Roster()
        self._words = WordCache()
