"""A small disposable SQLite file: thrown away when damaged, and never a reason to fail."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from cogvault.config import make_private

logger = logging.getLogger(__name__)

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WAIT_SECONDS = 30.0

T = TypeVar("T")


def is_damaged(error: sqlite3.DatabaseError) -> bool:
    """True for a file that holds other bytes than were written: no database, or text that is none."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # Python's own
        return str(error).startswith("Could not decode to UTF-8")
    return code & 0xFF in _DAMAGED


class SqliteFile:
    """Every call opens the file anew, so that any number of threads and processes may share it.

    Deleted text is overwritten. A damaged file is thrown away and made anew; any other fault is logged.

    Args:
        path: the file; it and its folder are made when something is written.
        schema: statements that make the tables unless they exist.
        purpose: what it is, for messages.
    """

    def __init__(self, path: Path, schema: str, purpose: str) -> None:
        self.path = path
        self._schema = schema
        self._purpose = purpose

    def use(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Read or change what is there, in one transaction; None when nothing is, or the file cannot be used."""
        return self.write(work) if self.path.exists() else None

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """The same, in a file that is made when it does not exist."""
        try:
            try:
                return self._attempt(work)
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
                logger.warning("%s is damaged and is thrown away: %s", self.path, error)
                self.path.unlink(missing_ok=True)
                return self._attempt(work)
        except (sqlite3.Error, OSError) as error:
            logger.warning("the %s %s cannot be used: %s", self._purpose, self.path, error)
            return None

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        make_private(self.path.parent)
        with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as database, database:
            database.execute("PRAGMA secure_delete = ON")
            database.executescript(self._schema)
            return work(database)
