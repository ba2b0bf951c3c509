"""The catalog's write-ahead log: moved into the catalog when it is long, or holds deleted text."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from cogvault.indexes.local import schema

_LONG_BYTES = 8 * 2**20
# Readers of earlier states keep a write-ahead log from starting over. They are waited for each time that it has grown
# by so much; new ones are not held up meanwhile.
_WAIT_SECONDS = 0.5


class WriteAheadLog:
    """Of one catalog. For one writer at a time.

    Args:
        file: of the log.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._is_unwiped = False
        self._longest = _LONG_BYTES

    def holds_deleted(self) -> None:
        """Text was deleted that the log, or a part of the catalog that the log will replace, still has."""
        self._is_unwiped = True

    def empty(self, connection: sqlite3.Connection) -> None:
        """Move it into the catalog when there is reason to, unless a reader needs it long."""
        size = self._bytes()
        is_long = size > self._longest
        if not (is_long or self._is_unwiped):
            return
        if _emptied(connection, _WAIT_SECONDS if is_long else 0.0):
            self._is_unwiped, self._longest = False, _LONG_BYTES
        elif is_long:
            self._longest = size + _LONG_BYTES

    def _bytes(self) -> int:
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0


def _emptied(connection: sqlite3.Connection, wait_seconds: float) -> bool:
    """Move the write-ahead log into the catalog and leave nothing in it; False while a reader needs it."""
    connection.execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(schema.BUSY_SECONDS * 1000)}")
    return not busy
