"""Layers of folders on disk, beside the index that they are made from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cogvault.layers.rollup import RollupChange
from cogvault.layers.sqlite_file import SqliteFile
from cogvault.types import CardLayers

_SCHEMA = """
CREATE TABLE IF NOT EXISTS folder (
    path TEXT PRIMARY KEY, hash TEXT NOT NULL, abstract TEXT NOT NULL, overview TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS made_from (only INTEGER PRIMARY KEY CHECK (only = 1), sequence INTEGER NOT NULL);
"""
_BLANK = CardLayers("", "")


@dataclass(frozen=True, slots=True)
class StoredFolders:
    """What is there: the sequence of the index it was made from (None = nothing was made), and each folder's hash."""

    sequence: int | None
    hashes: dict[str, str]


class FolderStore:
    """One disposable SQLite file for each vault. What cannot be read was never made; what cannot be written is logged.

    Args:
        path: the file; it and its folder are made when needed.
    """

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path, _SCHEMA, "store of folder layers")

    def sequence(self) -> int | None:
        """Sequence of the index that the folders were made from last, None = never."""
        return self._file.use(_sequence)

    def stored(self) -> StoredFolders:
        """State and hashes of all folders, without their texts."""

        def read(database: sqlite3.Connection) -> StoredFolders:
            return StoredFolders(_sequence(database), dict(database.execute("SELECT path, hash FROM folder")))

        return self._file.use(read) or StoredFolders(None, {})

    def layers(self, paths: Sequence[str]) -> list[CardLayers]:
        """Layers of folders, in this order; blank for one that is not there."""
        found = self._file.use(lambda database: dict(_rows(database, paths))) or {}
        return [found.get(path, _BLANK) for path in paths]

    def find(self, path: str) -> CardLayers | None:
        """Layers of one folder, None = it has none. ``""`` is the vault."""
        found = self._file.use(lambda database: dict(_rows(database, [path]))) or {}
        return found.get(path)

    def drop(self, paths: Iterable[str]) -> None:
        """Forget these folders until they are made anew; the others stay what they are."""

        def write(database: sqlite3.Connection) -> None:
            database.executemany("DELETE FROM folder WHERE path = ?", [(path,) for path in paths])
            database.execute("DELETE FROM made_from")

        self._file.use(write)

    def forget(self) -> None:
        """Forget all folders until they are made anew."""

        def write(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM folder")
            database.execute("DELETE FROM made_from")

        self._file.use(write)

    def apply(self, change: RollupChange, sequence: int) -> None:
        """Carry out a change in one transaction.

        Args:
            change: what ``roll_up`` gave.
            sequence: of the index that it was made from.
        """

        def write(database: sqlite3.Connection) -> None:
            database.executemany("DELETE FROM folder WHERE path = ?", [(path,) for path in change.remove])
            rows = [(path, layers.hash, layers.abstract, layers.overview) for path, layers in change.put.items()]
            database.executemany("INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?)", rows)
            database.execute("INSERT OR REPLACE INTO made_from VALUES (1, ?)", (sequence,))

        self._file.write(write)


def _sequence(database: sqlite3.Connection) -> int | None:
    row = database.execute("SELECT sequence FROM made_from").fetchone()
    return row[0] if row is not None and type(row[0]) is int else None


def _rows(database: sqlite3.Connection, paths: Sequence[str]) -> Iterable[tuple[str, CardLayers]]:
    for path in paths:
        row = database.execute("SELECT abstract, overview FROM folder WHERE path = ?", (path,)).fetchone()
        if row is not None:
            yield path, CardLayers(row[0], row[1])
