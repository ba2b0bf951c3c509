"""Read connections, each lent to one snapshot at a time."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from threading import RLock
from typing import TypeAlias

from cogvault.indexes.local import schema

FileIdentity: TypeAlias = tuple[int, int]
OpenedFiles: TypeAlias = tuple[FileIdentity | None, FileIdentity | None]

_KEPT = 8
_NO_ROOM = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN})


class ReadPool:
    """Connections to one catalog file, opened when needed and used again.

    Args:
        path: the catalog.
        read_only: nothing may be written, not even SQLite's side files.

    Raises:
        sqlite3.Error: the file cannot be opened or is no catalog.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        # Snapshots are given back by the garbage collector too, which may start in a thread that holds the lock.
        self._lock = RLock()
        self._idle: list[sqlite3.Connection] = []
        self._lent: set[sqlite3.Connection] = set()
        # Opened as a file that nobody writes, which is true for a moment only.
        self._unlocked: set[sqlite3.Connection] = set()
        self._closed = False
        self._mode = "rw"
        if read_only:
            self._mode = "ro" if _readable(path, "ro") else "immutable"
        self.file = file_identity(path)
        """The file that was opened."""
        self._log: FileIdentity | None = None

    @property
    def is_current(self) -> bool:
        """False when another file, or none, has taken its place, or that of its log: no later change would be seen."""
        if self._log is not None and self._log != file_identity(_log_of(self._path)):
            return False
        return self.file is not None and self.file == file_identity(self._path)

    def begin(self) -> sqlite3.Connection:
        """A connection in a read transaction; give it back with ``end``."""
        with self._lock:
            connection = self._idle.pop() if self._idle else self._connect()
            self._lent.add(connection)
        schema.keep_shared(self._path)
        try:
            connection.execute("BEGIN")
            if self._log is None and connection not in self._unlocked and self._mode != "immutable":
                schema.read_state(connection)  # opens the log
                self._log = file_identity(_log_of(self._path))
        except BaseException:
            self.end(connection)
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        try:
            return schema.connect(self._path, self._mode)
        except sqlite3.OperationalError as error:
            # A full disk has no room for the file by which readers and writers see each other. While nothing waits in
            # the log, the catalog is whole without it.
            if error.sqlite_errorcode & 0xFF not in _NO_ROOM or _size(_log_of(self._path)):
                raise
        connection = schema.connect(self._path, "immutable")
        self._unlocked.add(connection)
        return connection

    def end(self, connection: sqlite3.Connection) -> None:
        """Finish its transaction."""
        with self._lock:
            if connection not in self._lent:
                return
            self._lent.discard(connection)
            if connection.in_transaction:
                connection.rollback()
            if self._closed or len(self._idle) >= _KEPT or connection in self._unlocked:
                self._unlocked.discard(connection)
                connection.close()
            else:
                self._idle.append(connection)

    def close(self) -> None:
        """Close what is idle now, and the rest when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        schema.keep_shared(self._path)
        for connection in idle:
            connection.close()


def _readable(path: Path, mode: str) -> bool:
    try:
        connection = schema.connect(path, mode)
        try:
            schema.read_state(connection)
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return False
    return True


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _log_of(catalog: Path) -> Path:
    return catalog.with_name(f"{catalog.name}-wal")


def opened_files(catalog: Path) -> OpenedFiles:
    """The catalog and its log, as they are in their places."""
    return file_identity(catalog), file_identity(_log_of(catalog))


def file_identity(path: Path) -> FileIdentity | None:
    """Device and inode of a file; None when there is none."""
    try:
        info = os.stat(path)  # noqa: PTH116 - called for every snapshot
    except OSError:
        return None
    return info.st_dev, info.st_ino
