"""Layers of folders are a cache: a damaged file is thrown away, and they are made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.vault.conftest import Shelf, shelf

__all__ = ["shelf"]


@pytest.mark.parametrize("column", ["abstract", "path", "hash"])
def test_text_that_is_none_is_made_anew(shelf: Shelf, column: str) -> None:
    shelf.write("f/a.md", "Ana drinks green tea in the morning.\n")
    made = shelf.vault.layers("f")
    file = Path(shelf.vault.status().index) / "folders.sqlite"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"UPDATE folder SET {column} = CAST(x'ff' AS TEXT) WHERE path = 'f'")
    shelf.vault.layers()
    shelf.write("f/b.md", "Ben drinks coffee.\n")
    shelf.vault.sync()
    assert "Ben" in shelf.vault.layers("f").overview
    assert made.abstract


def test_what_is_gone_lives_on_in_no_folder_and_the_others_wait_for_who_asks(shelf: Shelf) -> None:
    shelf.write("f/g/a.md", "Ana drinks green tea in the morning.\n")
    shelf.write("f/b.md", "Ben drinks coffee.\n")
    shelf.write("h/c.md", "Cid drinks water.\n")
    shelf.vault.sync()
    file = Path(shelf.vault.status().index) / "folders.sqlite"
    (shelf.root / "f/g/a.md").unlink()
    shelf.vault.search("tea")
    assert b"Ana" not in b"".join(part.read_bytes() for part in file.parent.glob("folders.sqlite*"))
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT path FROM folder").fetchall() == [("h",)]
    assert "Ben" in shelf.vault.layers("f").overview
    assert shelf.vault.layers("h").overview
