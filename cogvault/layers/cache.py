"""Summaries kept on disk, so that unchanged content is never summarized twice."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

logger = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS summary (
    card TEXT, content TEXT, layer TEXT, prompt TEXT, model TEXT, text TEXT NOT NULL,
    PRIMARY KEY (card, content, layer, prompt, model)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_content ON summary (content, layer, prompt, model);
"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WAIT_SECONDS = 30.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SummaryKey:
    """What a summary depends on.

    Attributes:
        content: hash of the text that was summarized.
        layer: ``abstract`` or ``overview``.
        prompt: version of the prompt.
        model: the model's name and where it runs.
    """

    content: str
    layer: str
    prompt: str
    model: str


class SummaryCache:
    """One SQLite file of summaries. Found by content, so that a moved card keeps its own; deleted by card.

    One vault has one cache: card ids are unique in a vault only. Every call opens the file anew, which is nothing
    beside asking a model, so that any number of threads and processes may share it. A damaged file is thrown away;
    a failure to read is a miss, a failure to write is logged.

    Args:
        path: the file; it and its folder are made when needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, card: str, key: SummaryKey) -> str | None:
        """The summary of this content, whichever card had it; from now on it is this card's too.

        What is kept of the card's other contents is deleted: the card no longer says it.
        """

        def read(database: sqlite3.Connection) -> str | None:
            where = (key.content, key.layer, key.prompt, key.model)
            database.execute("DELETE FROM summary WHERE card = ? AND content <> ?", (card, key.content))
            row = database.execute(
                "SELECT text FROM summary WHERE content = ? AND layer = ? AND prompt = ? AND model = ?", where
            ).fetchone()
            if row is None:
                return None
            database.execute("INSERT OR IGNORE INTO summary VALUES (?, ?, ?, ?, ?, ?)", (card, *where, row[0]))
            return str(row[0])

        return self._run(read) if self._path.exists() else None

    def put(self, card: str, key: SummaryKey, text: str) -> None:
        """Keep a summary of a card."""
        row = (card, key.content, key.layer, key.prompt, key.model, text)
        self._run(lambda database: database.execute("INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?, ?, ?)", row))

    def forget(self, card: str) -> None:
        """Delete every summary of a card; its bytes are overwritten."""
        if self._path.exists():
            self._run(lambda database: database.execute("DELETE FROM summary WHERE card = ?", (card,)))

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        try:
            try:
                return self._attempt(work)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                    raise
                logger.warning("%s is damaged and is thrown away: %s", self._path, error)
                self._path.unlink(missing_ok=True)
                return self._attempt(work)
        except (sqlite3.Error, OSError) as error:
            logger.warning("the summary cache %s cannot be used: %s", self._path, error)
            return None

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self._path, timeout=_WAIT_SECONDS)) as database, database:
            database.execute("PRAGMA secure_delete = ON")
            database.executescript(_SCHEMA)
            return work(database)
