"""Summaries kept on disk, so that unchanged content is never summarized twice."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from cogvault.layers.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS summary (
    card TEXT, content TEXT, layer TEXT, prompt TEXT, model TEXT, text TEXT NOT NULL,
    PRIMARY KEY (card, content, layer, prompt, model)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_content ON summary (content, layer, prompt, model);
"""


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

    One vault has one cache: card ids are unique in a vault only. Any number of threads and processes may share it.
    A damaged file is thrown away; a failure to read is a miss, a failure to write is logged.

    Args:
        path: the file; it and its folder are made when needed.
    """

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path, _SCHEMA, "summary cache")

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

        return self._file.use(read)

    def put(self, card: str, key: SummaryKey, text: str) -> None:
        """Keep a summary of a card."""
        row = (card, key.content, key.layer, key.prompt, key.model, text)
        self._file.write(
            lambda database: database.execute("INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?, ?, ?)", row)
        )

    def forget(self, card: str) -> None:
        """Delete every summary of a card; its bytes are overwritten."""
        self._file.use(lambda database: database.execute("DELETE FROM summary WHERE card = ?", (card,)))

    def rename(self, old: str, new: str) -> None:
        """Give every summary of one card to another."""
        self._file.use(
            lambda database: database.execute("UPDATE OR REPLACE summary SET card = ? WHERE card = ?", (new, old))
        )
