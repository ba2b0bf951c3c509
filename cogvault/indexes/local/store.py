"""The index folder: catalog, keyword folder, and what keeps the two in step.

    lock               held by whoever writes
    catalog.sqlite     the truth of the cache (schema.py)
    keyword-<n>        the keyword folder that the catalog names (lexical.py)
    damaged/<n>        what had to be set aside

A change is committed to the catalog first. A few new chunks wait there, where every search finds them, until more have
come or something dies (waiting.py); then the keyword folder is brought up to the catalog, and what died is purged
from the catalog. Each step can be made again from the catalog, so a kill between two of them is healed by whoever comes
next.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock, RLock

from filelock import FileLock, Timeout

from cogvault.config import make_private
from cogvault.errors import IndexFault
from cogvault.indexes.local import damage, schema, writer
from cogvault.indexes.local.documents import documents
from cogvault.indexes.local.keys import KeptKeys
from cogvault.indexes.local.lexical import Document, Lexical, LexicalDamaged, LexicalView
from cogvault.indexes.local.pool import OpenedFiles, file_identity, opened_files
from cogvault.indexes.local.schema import NEVER, State, read_state, transaction, write_state
from cogvault.indexes.local.waiting import waiting_cards
from cogvault.indexes.local.wal import WriteAheadLog

CATALOG = "catalog.sqlite"
_NEW_CATALOG = "catalog-new.sqlite"
_KEYWORD = "keyword-"
_KEYWORD_NAME = re.compile(r"keyword-([0-9]{1,9})")
_LOCK = "lock"
_LOCK_SECONDS = 120.0
_POLL_SECONDS = 0.005
_LARGE_CARDS = 200
_TOLD_CHUNKS = 200
# Deleted chunks stay in the keyword folder, as numbers, until its segments are merged. Beyond this it is built anew,
# and the catalog too.
_GHOSTS = 500
_GHOST_SHARE = 0.33

logger = logging.getLogger(__name__)


class Store:
    """An index folder.

    Args:
        folder: made, private to the user, by the first write.
        threads: threads that may index a large change.

    Attributes:
        keys: of its catalog, kept from one commit to the next.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.catalog = folder / CATALOG
        self.notes: tuple[str, ...] = ()
        self.keys = KeptKeys()
        self._threads = threads
        self._wal = WriteAheadLog(folder / f"{CATALOG}-wal")
        self._thread_lock = RLock()
        self._opening = Lock()
        self._file_lock = FileLock(folder / _LOCK, thread_local=False, poll_interval=_POLL_SECONDS)
        self._connection: sqlite3.Connection | None = None
        self._opened: OpenedFiles | None = None
        self._lexical: tuple[str, Lexical] | None = None
        self._asked = ("", "")
        self._distrusted: tuple[tuple[str, str], str] | None = None

    @contextmanager
    def writing(self, timeout: float | None = None) -> Iterator[sqlite3.Connection]:
        """Be the only writer of all processes, with a connection to the catalog, which is made when missing.

        Args:
            timeout: seconds to wait for other writers, None = as long as a large change may take.

        Raises:
            IndexFault: they did not finish in time, or the folder cannot be written.
        """
        timeout = _LOCK_SECONDS if timeout is None else timeout
        if not self._thread_lock.acquire(timeout=timeout):
            raise IndexFault("another thread is still writing", path=self.folder)
        try:
            with self._locked(timeout):
                yield self._writable()
        finally:
            self._thread_lock.release()

    @contextmanager
    def _locked(self, timeout: float) -> Iterator[None]:
        try:
            make_private(self.folder)
            damage.make_room(self.folder / _LOCK)
            self._file_lock.acquire(timeout=timeout)
        except (Timeout, OSError) as error:
            raise IndexFault(
                f"the index cannot be locked for writing: {error}",
                path=self.folder,
                hint="is another process syncing, or the folder read-only?",
            ) from error
        try:
            yield
        finally:
            self._file_lock.release()

    def _writable(self) -> sqlite3.Connection:
        if self._connection is None or self._opened != opened_files(self.catalog):
            if self._connection is not None:
                with suppress(sqlite3.Error):  # takes over what is in a log that is no longer in its place
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.disconnect()
            if file_identity(self.catalog) is None:
                self._create()
            self._connection = schema.connect(self.catalog, "rwc")
            self._opened = opened_files(self.catalog)
        else:
            schema.keep_shared(self.catalog)
        return self._connection

    def _create(self) -> None:
        """Make the catalog under another name first: who reads finds it with its tables, or not at all."""
        self._sweep(keep="")
        new = self.folder / _NEW_CATALOG
        # The log of a catalog that was deleted would be taken for the new one's.
        damage.delete(self.folder / name for name in (*_side_files(_NEW_CATALOG), *_side_files(CATALOG)))
        schema.connect(new, "rwc").close()
        new.rename(self.catalog)

    @property
    def is_blocked(self) -> bool:
        """True when something that is no file stands in the place of one of the catalog's."""
        return any(damage.is_no_file(self.folder / name) for name in _side_files(CATALOG))

    def disconnect(self) -> None:
        """Close the writing connection."""
        if self._connection is not None:
            schema.keep_shared(self.catalog)
            self._connection.close()
            self._connection = None

    def rest(self) -> None:
        """Close everything that opens again by itself, unless a writer is at work."""
        if self._thread_lock.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._thread_lock.release()

    def close(self) -> None:
        """Close everything."""
        with self._thread_lock:
            self._let_go()

    def _let_go(self) -> None:
        self.disconnect()
        self._lexical = None
        self.keys.forget()

    def lexical(self, state: State) -> Lexical:
        """The keyword folder that a state names.

        Raises:
            LexicalDamaged: it is missing, broken, foreign, or distrusted.
        """
        self._asked = (state.uuid, state.keyword)
        if self._distrusted is not None and self._distrusted[0] == self._asked:
            raise LexicalDamaged(self._distrusted[1])
        with self._opening:  # else what a reader opened before a change could take the place of a writer's
            held = self._lexical
            if held is None or held[0] != state.keyword:
                held = (state.keyword, Lexical(self.folder / (state.keyword or "none"), state.uuid))
                self._lexical = held
        return held[1]

    def distrust_lexical(self, fault: str) -> None:
        """Use the keyword folder last asked for no more, and have it made anew by the next ``publish``."""
        self._distrusted = (self._asked, fault)
        self._lexical = None

    def publish(
        self,
        connection: sqlite3.Connection,
        progress: Callable[[int, int], None] | None = None,
        *,
        room: int | None = None,
    ) -> None:
        """Bring the keyword folder to the catalog's last change, then purge what died. Does nothing when all is done.

        Args:
            connection: to the catalog, for writing.
            progress: called while a folder is made anew, with chunks done and chunks in all; an exception of it ends
                that, and the old folder is still the one that is named.
            room: a few changes may wait for more, if so many chunks and cards can come on top; None = none may.

        Raises:
            IndexFault: the keyword folder cannot be written; the catalog keeps what is missing there.
        """
        state = read_state(connection)
        ghosts = False
        try:
            lexical = self.lexical(state)
            lexical.follow()
            if room is not None and _can_wait(connection, state, lexical.view, room):
                self._wal.empty(connection)
                return
            ghosts = self._follow(connection, state, lexical)
        except LexicalDamaged as error:
            state = self._rebuild(connection, state, str(error) or "no details", progress)
        else:
            if ghosts:
                state = self._rebuild(connection, state, "", progress)
        if state.published < state.lexical and writer.purge(connection, state.lexical, self.keys):
            self._wal.holds_deleted()
            # They may hold what was deleted just now.
            damage.discard(self.folder)
        if ghosts:
            self._compact(connection)
        self._wal.empty(connection)

    def _follow(self, connection: sqlite3.Connection, state: State, lexical: Lexical) -> bool:
        """Apply what waits for the keyword folder; True when deleted chunks fill too much of it."""
        reached = lexical.view.sequence
        if not state.published <= reached <= state.lexical:
            raise LexicalDamaged(f"it reflects change {reached}, the catalog {state.published} to {state.lexical}")
        if reached < state.lexical:
            # Written so that both are answered by an index: what is born changes, and only the dead are in theirs.
            dead = _versions(connection, f"born <= ? AND dead > ? AND dead < {NEVER}", reached, reached)
            born = _versions(connection, "changed > ? AND born > ? AND dead = ?", reached, reached, NEVER)
            living = documents(connection, born, self.keys.of(state.uuid))
            lexical.write(dead, living, state.lexical, self._threads_for(born))
        return lexical.view.ghosts > max(_GHOSTS, _GHOST_SHARE * lexical.view.documents)

    def _rebuild(
        self,
        connection: sqlite3.Connection,
        state: State,
        fault: str,
        progress: Callable[[int, int], None] | None,
    ) -> State:
        """Make a new keyword folder from the catalog and name it there; the old one goes."""
        # Never the name in the catalog: what a kill leaves unfinished must not pass for what the catalog means.
        names = [state.keyword, *(path.name for path in self.folder.glob(f"{_KEYWORD}*"))]
        numbers = [int(found[1]) for name in names if (found := _KEYWORD_NAME.fullmatch(name))]
        name = f"{_KEYWORD}{max(numbers, default=0) + 1}"
        folder = self.folder / name
        try:
            lexical = self._build(connection, state, folder, progress)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, LexicalDamaged):
                raise IndexFault(f"the keyword index cannot be written: {error}", path=folder) from error
            raise
        old = state.keyword
        with transaction(connection):
            state = replace(state, keyword=name)
            write_state(connection, state)
        self._lexical = (name, lexical)
        if fault and _KEYWORD_NAME.fullmatch(old):  # else the name itself is damage, and may be that of anything
            try:
                place = damage.set_aside(self.folder, [old])
            except OSError as error:
                raise IndexFault(f"the damaged keyword index cannot be moved: {error}", path=self.folder) from error
            self._note(f"the keyword index was damaged ({fault}), was built anew; {place}")
        self._sweep(keep=name)
        return state

    def replace_catalog(self, fault: str, seen: tuple[int, int] | None) -> None:
        """Set a damaged catalog aside, with all that was derived from it, and start an empty one.

        Args:
            fault: what is wrong with it.
            seen: identity of the damaged file, so that of several that see the damage only the first acts.

        Raises:
            IndexFault: the folder cannot be written.
        """
        with self._thread_lock, self._locked(_LOCK_SECONDS):
            self._let_go()
            if file_identity(self.catalog) != seen:
                return
            try:
                place = damage.set_aside(self.folder, _side_files(CATALOG))
                self._sweep(keep="")
            except OSError as error:
                raise IndexFault(f"the damaged index cannot be moved: {error}", path=self.folder) from error
            self._note(f"the catalog was damaged ({fault}), starts empty and has to be filled anew; {place}")
            self.publish(self._writable())

    def bytes_on_disk(self) -> int:
        """Size of all files that are in use."""
        total = 0
        # Files come and go while a writer is at work.
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.startswith(_KEYWORD):
                    with suppress(OSError), os.scandir(entry.path) as files:
                        total += sum(map(_size, files))
                elif entry.name in _side_files(CATALOG):
                    total += _size(entry)
        return total

    def _build(
        self,
        connection: sqlite3.Connection,
        state: State,
        folder: Path,
        progress: Callable[[int, int], None] | None,
    ) -> Lexical:
        lexical = Lexical.create(folder, state.uuid)
        alive = _versions(connection, "dead = ?", NEVER)
        found: Iterable[Document] = documents(connection, alive, self.keys.of(state.uuid))
        if progress is not None:
            (total,) = connection.execute(
                "SELECT ifnull(sum(chunks), 0) FROM cards WHERE dead = ?", (NEVER,)
            ).fetchone()
            found = _told(found, total, progress)
        lexical.write([], found, state.lexical, self._threads_for(alive))
        return lexical

    def _threads_for(self, versions: Sequence[int]) -> int:
        """Each thread makes segments of its own, which is not worth it for a few cards."""
        return self._threads if len(versions) >= _LARGE_CARDS else 1

    def _sweep(self, *, keep: str) -> None:
        """Delete keyword folders that are no longer, or not yet, in use."""
        for path in self.folder.glob(f"{_KEYWORD}*"):
            if path.name != keep:
                shutil.rmtree(path, ignore_errors=True)

    def _note(self, text: str) -> None:
        logger.warning("%s: %s", self.folder, text)
        self.notes = (*self.notes, text)

    def _compact(self, connection: sqlite3.Connection) -> None:
        """Write the catalog anew without its holes, and without what SQLite leaves in unused parts of its pages."""
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            # The disk is too full for a second copy, for example: no harm but to its size.
            logger.warning("%s: the catalog was not compacted: %s", self.folder, error)
        self._wal.holds_deleted()


def _can_wait(connection: sqlite3.Connection, state: State, lexical: LexicalView, room: int) -> bool:
    """True when all that waits for the keyword folder is a few new cards."""
    if lexical.sequence != state.published or lexical.sequence == state.lexical:
        return False
    waiting = waiting_cards(connection, state, lexical, room)
    return waiting is not None and not waiting.has_dead


def _told(documents: Iterable[Document], total: int, progress: Callable[[int, int], None]) -> Iterator[Document]:
    """The same, telling how many there were."""
    for number, document in enumerate(documents):
        if number % _TOLD_CHUNKS == 0:
            progress(number, total)
        yield document


def _side_files(catalog: str) -> tuple[str, str, str]:
    """A catalog's file, its write-ahead log, and what its processes share."""
    return catalog, f"{catalog}-wal", f"{catalog}-shm"


def _size(entry: os.DirEntry[str]) -> int:
    with suppress(FileNotFoundError):
        return entry.stat().st_size
    return 0


def _versions(connection: sqlite3.Connection, where: str, *values: int) -> list[int]:
    return [version for (version,) in connection.execute(f"SELECT version FROM cards WHERE {where}", values)]
