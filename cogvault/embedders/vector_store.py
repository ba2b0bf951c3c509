"""A bounded key-value file of blobs on SQLite that never gets in the way."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final, TypeVar

from cogvault.config import make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

T = TypeVar("T")

_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS vectors (key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, value BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
    CREATE TABLE IF NOT EXISTS owners (owner BLOB NOT NULL, key BLOB NOT NULL, PRIMARY KEY (owner, key)) WITHOUT ROWID;
"""
DEFAULT_MAX_BYTES: Final = 1 << 30
_BUSY_SECONDS: Final = 10.0
_KEYS_A_QUERY: Final = 500
#: A hit is written down as a use only when that many newer uses lie between, so that most hits write nothing.
_USE_RESOLUTION: Final = 1_000
_PRUNED_SHARE: Final = 0.2
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

_logger = logging.getLogger(__name__)


class VectorStore:
    """Blobs by key, shared by threads and processes. No method raises for what happens to the file.

    Every call opens the file and closes it again (below a millisecond, against the seconds that
    embedding takes), so there is nothing to close, to lock between threads or to lose in a fork.
    A damaged file is set aside beside itself and a new one begun. A file that cannot be used is
    reported once and not tried again.

    Args:
        path: The SQLite file, made with its folder when absent.
        max_bytes: Size above which the least recently used fifth is dropped.
    """

    __slots__ = ("_max_bytes", "_path", "_usable")

    def __init__(self, path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._usable = True

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The blobs of the keys that are there."""
        return self._attempt(lambda connection: _get(connection, keys), {}) if keys else {}

    def put(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store blobs; what is there under the same key is replaced."""
        if items:
            self._attempt(lambda connection: self._put(connection, items), None)

    def delete(self, keys: Sequence[bytes]) -> None:
        """Remove keys, whether they are there or not, so that their bytes are gone from the file."""
        if keys and self._path.exists():
            self._attempt(lambda connection: _delete(connection, keys), None)

    def own(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        """Remember owners of keys, as (owner, key), whether or not the keys are there yet."""
        if pairs:
            self._attempt(lambda connection: _own(connection, pairs), None)

    def share(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        """What the first of each pair of owners owns is also the second's."""
        if pairs and self._path.exists():
            self._attempt(lambda connection: _share(connection, pairs), None)

    def delete_owned(self, owners: Sequence[bytes]) -> None:
        """Remove all keys that any of these owners ever had, as ``delete`` does, and the owners."""
        if owners and self._path.exists():
            self._attempt(lambda connection: _delete_owned(connection, owners), None)

    def _put(self, connection: sqlite3.Connection, items: Sequence[tuple[bytes, bytes]]) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            now = _newest_use(connection) + 1
            connection.executemany(
                "INSERT INTO vectors (key, used, value) VALUES (?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET used = excluded.used, value = excluded.value",
                ((key, now + index, value) for index, (key, value) in enumerate(items)),
            )
            excess = 1.0 - self._max_bytes / _used_bytes(connection)
            if excess > 0.0:
                _prune(connection, excess + _PRUNED_SHARE)

    def _attempt(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action, once more on a new file when this one is damaged."""
        for _ in range(2):
            if not self._usable:
                break
            try:
                with closing(self._open()) as connection:
                    return action(connection)
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    _logger.warning("vector cache %s is busy: going on without it this time", self._path)
                    break
                if code in _DAMAGED:
                    self._set_aside(error)
                    continue
                self._give_up(error)
            except OSError as error:
                self._give_up(error)
        return otherwise

    def _open(self) -> sqlite3.Connection:
        make_private(self._path.parent)
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA page_size = 8192")  # four or five vectors a page instead of two
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = FAST")
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'owners'").fetchone() is None:
                connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _set_aside(self, error: sqlite3.Error) -> None:
        aside = self._path.with_name(self._path.name + ".damaged")
        _logger.warning("vector cache %s is damaged (%s): set aside as %s", self._path, error, aside.name)
        try:
            self._path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except FileNotFoundError:
            return  # another process did it
        except OSError as failure:
            self._give_up(failure)

    def _give_up(self, error: Exception) -> None:
        if self._usable:
            _logger.warning("vector cache %s cannot be used (%s): going on without it", self._path, error)
        self._usable = False


def _get(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    stale: list[bytes] = []
    newest = _newest_use(connection)
    for start in range(0, len(keys), _KEYS_A_QUERY):
        part = keys[start : start + _KEYS_A_QUERY]
        marks = ",".join("?" * len(part))
        for key, used, value in connection.execute(
            f"SELECT key, used, value FROM vectors WHERE key IN ({marks})", part
        ):
            found[key] = value
            if newest - used > _USE_RESOLUTION:
                stale.append(key)
    if stale:
        _touch(connection, stale, newest + 1)
    return found


def _touch(connection: sqlite3.Connection, keys: Sequence[bytes], now: int) -> None:
    try:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", ((now, key) for key in keys))
    except sqlite3.OperationalError as error:
        _logger.debug("uses of cached vectors were not noted: %s", error)  # the vectors themselves were read


def _delete(connection: sqlite3.Connection, keys: Sequence[bytes]) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM vectors WHERE key = ?", ((key,) for key in keys))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _own(connection: sqlite3.Connection, pairs: Sequence[tuple[bytes, bytes]]) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR IGNORE INTO owners (owner, key) VALUES (?, ?)", pairs)


def _share(connection: sqlite3.Connection, pairs: Sequence[tuple[bytes, bytes]]) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT OR IGNORE INTO owners (owner, key) SELECT ?2, key FROM owners WHERE owner = ?1", pairs
        )


def _delete_owned(connection: sqlite3.Connection, owners: Sequence[bytes]) -> None:
    given = [(owner,) for owner in owners]
    connection.execute("PRAGMA secure_delete = ON")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM vectors WHERE key IN (SELECT key FROM owners WHERE owner = ?)", given)
        connection.executemany("DELETE FROM owners WHERE owner = ?", given)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _newest_use(connection: sqlite3.Connection) -> int:
    (newest,) = connection.execute("SELECT max(used) FROM vectors").fetchone()
    return newest or 0


def _used_bytes(connection: sqlite3.Connection) -> int:
    values = [
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    ]
    pages, free, size = values
    return int((pages - free) * size)


def _prune(connection: sqlite3.Connection, share: float) -> None:
    """Drop this share of the vectors and their owners; an owner whose key is not there yet keeps it."""
    (rows,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    oldest = "SELECT key FROM vectors ORDER BY used, rowid LIMIT ?"
    for table in ("owners", "vectors"):
        connection.execute(f"DELETE FROM {table} WHERE key IN ({oldest})", (max(1, int(rows * min(share, 1.0))),))
