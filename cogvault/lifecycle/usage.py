"""How often each card was used, and when last: the one thing about a vault that its files do not say."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from cogvault.cards.writer import rename_to_new
from cogvault.config import make_private
from cogvault.errors import VaultError
from cogvault.layers.sqlite_file import is_damaged

__all__ = ["Usage", "Used"]

logger = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE used (id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE done (task TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
"""
_NOTE = """
INSERT INTO used VALUES (?, 1, ?) ON CONFLICT (id) DO UPDATE SET uses = uses + 1, last = max(last, excluded.last)
"""
_MOVE = """
INSERT INTO used SELECT ?, uses, last FROM used WHERE id = ?
ON CONFLICT (id) DO UPDATE SET uses = uses + excluded.uses, last = max(last, excluded.last)
"""
# Nobody waits longer for another process: a search must not, and one use more or less says nothing.
_WAIT_SECONDS = 1.0
_LOST = "counts lost"
_LOST_HINT = "try again; should it stay like that, look at the rights of the file and its folder"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Used:
    """Uses of one card.

    Attributes:
        uses: how many.
        last: the last one, UTC.
    """

    uses: int
    last: datetime


class _Emptied(sqlite3.DatabaseError):
    """The file is there and holds nothing: it was cut off, or its tables were dropped."""


class Usage:
    """Counts uses in a small SQLite file that threads and processes share. A kill loses nothing that was counted.

    Counting fails no one: what cannot be counted is logged. A damaged file is set aside and a new one begun, which
    remembers when: before that nobody knows what was used. Who asks for counts that cannot be read is told so.

    Args:
        path: the file; it and its folder are made by the first use.
        clock: the current instant, timezone-aware.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._open: tuple[int, sqlite3.Connection] | None = None

    def count(self, ids: Iterable[str]) -> None:
        """One answer: each card that is part of it was used once more, however often it is in there."""
        now = self._clock().timestamp()
        rows = [(id, now) for id in dict.fromkeys(ids)]
        if rows:
            self._write(lambda database: database.executemany(_NOTE, rows))

    def all(self) -> Mapping[str, Used]:
        """Uses by id of all cards that were ever used, archived ones too.

        Raises:
            VaultError: they cannot be read, which is not the same as that there are none.
        """
        found = self._ask("SELECT id, uses, last FROM used")
        return {id: Used(uses, datetime.fromtimestamp(last, UTC)) for id, uses, last in found}

    def lost_at(self) -> datetime | None:
        """When the counts were lost last: cards may have been used before. None = never.

        Raises:
            VaultError: as ``all``.
        """
        found = self._ask("SELECT at FROM done WHERE task = ?", _LOST)
        return datetime.fromtimestamp(found[0][0], UTC) if found else None

    def move(self, moved: Iterable[tuple[str, str]]) -> None:
        """Cards have other ids: (old, new) each. Their uses go along."""
        pairs = list(moved)
        if pairs and self.path.exists():
            self._write(lambda database: _move(database, pairs))

    def drop(self, ids: Iterable[str]) -> None:
        """Cards are deleted for good: neither the file nor its write-ahead log names them any more."""
        rows = [(id,) for id in ids]
        if rows and self.path.exists():
            self._write(lambda database: database.executemany("DELETE FROM used WHERE id = ?", rows))
            self._empty_log()

    def claim(self, task: str, interval: timedelta) -> bool:
        """True for one caller among all processes when the last claim of this task is at least so long ago."""
        now = self._clock().timestamp()
        before = now - interval.total_seconds()

        def claim(database: sqlite3.Connection) -> bool:
            sql = "INSERT INTO done VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET at = excluded.at WHERE at <= ?"
            return database.execute(sql, (task, now, before)).rowcount > 0

        return bool(self._write(claim))

    def close(self) -> None:
        """Release the file. Calling it twice does nothing; what is counted later opens it again."""
        with self._lock:
            self._disconnect()

    def _ask(self, sql: str, *arguments: object) -> list[tuple[Any, ...]]:
        try:
            self.path.stat()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VaultError(f"uses cannot be read: {error.strerror}", path=self.path, hint=_LOST_HINT) from error
        found = self._write(lambda database: database.execute(sql, arguments).fetchall())
        if found is None:
            raise VaultError("how often cards were used cannot be read", path=self.path, hint=_LOST_HINT)
        return found

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something in one transaction; None when the file cannot be used."""
        with self._lock:
            try:
                try:
                    return self._attempt(work)
                except sqlite3.DatabaseError as error:
                    if not (isinstance(error, _Emptied) or is_damaged(error)):
                        raise
                    self._set_aside(error)
                    self._attempt(self._note_loss)
                    return self._attempt(work)
            except (sqlite3.Error, OSError) as error:
                logger.warning("uses of cards were not counted: %s: %s", self.path, error)
                self._disconnect()
                return None

    def _empty_log(self) -> None:
        """Cut the write-ahead log off, which keeps the pages that were written until it begins anew."""
        with self._lock:
            if self._open is None:
                return
            try:
                [is_busy, *_] = self._open[1].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                logger.warning("the log of uses was not emptied: %s: %s", self.path, error)
            else:
                if is_busy:
                    logger.warning("the log of uses was not emptied, another process uses it: %s", self.path)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._open is None or self._open[0] != os.getpid() or not self.path.exists():
            self._disconnect()
            self._open = os.getpid(), self._connect()
        database = self._open[1]
        database.execute("BEGIN IMMEDIATE")
        with database:
            return work(database)

    def _connect(self) -> sqlite3.Connection:
        make_private(self.path.parent)
        if not self.path.exists():
            self._create()
        database = sqlite3.connect(self.path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        if not database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'used'").fetchone()[0]:
            database.close()
            raise _Emptied("it has no table of uses")
        # In a write-ahead log a commit needs no flush: it outlives a kill, and costs a search next to nothing.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA secure_delete = ON")
        return database

    def _create(self) -> None:
        """Make the file under another name first: one that is there and has no table was emptied, and is not new."""
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
        try:
            os.close(os.open(new, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite would let others read it
            with closing(sqlite3.connect(new, isolation_level=None)) as database:
                database.executescript(_SCHEMA)
            with suppress(FileExistsError):  # another process made it meanwhile
                rename_to_new(new, self.path)
        finally:
            new.unlink(missing_ok=True)

    def _disconnect(self) -> None:
        if self._open is not None and self._open[0] == os.getpid():  # a parent's connection is not ours to close
            self._open[1].close()
        self._open = None

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        logger.warning("%s is damaged and set aside; uses are counted anew: %s", self.path, error)
        self._disconnect()
        self.path.replace(self.path.with_suffix(".damaged"))
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _note_loss(self, database: sqlite3.Connection) -> None:
        database.execute("INSERT OR REPLACE INTO done VALUES (?, ?)", (_LOST, self._clock().timestamp()))


def _move(database: sqlite3.Connection, pairs: list[tuple[str, str]]) -> None:
    for old, new in pairs:
        database.execute(_MOVE, (new, old))
        database.execute("DELETE FROM used WHERE id = ?", (old,))
