"""Layers of folders are a cache: a damaged file is thrown away, and they are made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.vault.conftest import Shelf, ids, shelf

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


def test_a_state_that_is_none_is_not_known(shelf: Shelf) -> None:
    shelf.write("f/a.md", "The wombat digs holes.\n")
    shelf.vault.sync()
    with closing(sqlite3.connect(Path(shelf.vault.status().index) / "folders.sqlite")) as database, database:
        assert database.execute("UPDATE made_from SET sequence = 'zz'").rowcount
    assert "wombat" in shelf.vault.layers("f").abstract


def test_folders_of_a_former_index_are_not_those_of_the_next_one(shelf: Shelf) -> None:
    shelf.write("f/a.md", "The wombat digs holes.\n")
    shelf.vault.sync()
    folder, sequence = Path(shelf.vault.status().index), shelf.vault.status().sequence
    assert "wombat" in shelf.vault.layers("f").abstract
    shelf.close()
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()
    shelf.write("f/a.md", "The dingo howls.\n")
    vault = shelf.open()
    assert vault.search("dingo")
    assert vault.status().sequence == sequence
    assert vault.layers("f").abstract == "The dingo howls."


@pytest.mark.parametrize("change", ["DELETE FROM folder WHERE path = 'f'", "UPDATE folder SET abstract = 'altered'"])
def test_a_verifying_sync_makes_altered_folders_anew(shelf: Shelf, change: str) -> None:
    shelf.write("f/a.md", "The wombat digs holes.\n")
    shelf.vault.sync()
    before = shelf.vault.layers(), shelf.vault.layers("f")
    with closing(sqlite3.connect(Path(shelf.vault.status().index) / "folders.sqlite")) as database, database:
        assert database.execute(change).rowcount
    shelf.vault.sync(verify=True)
    assert (shelf.vault.layers(), shelf.vault.layers("f")) == before


@pytest.mark.parametrize("edit", ["write", "rename"])
def test_what_a_search_saw_change_does_not_live_on_in_folders(shelf: Shelf, edit: str) -> None:
    file = shelf.write("f/wombat-burrow.md", "The wombat digs holes.\n")
    shelf.vault.sync()
    folders = Path(shelf.vault.status().index) / "folders.sqlite"
    assert b"wombat" in folders.read_bytes()
    if edit == "rename":
        file = file.rename(file.with_name("dingo.md"))
        assert ids(shelf.vault.search("wombat")) == ["f/dingo.md"]
        assert b"burrow" not in folders.read_bytes()
    else:
        file.write_text("The dingo howls.\n")
        assert ids(shelf.vault.search("dingo howls")) == ["f/wombat-burrow.md"]
        assert b"The wombat digs" not in folders.read_bytes()
