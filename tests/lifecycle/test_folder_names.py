"""Which names a new card must not have, though they are free: what was listed before is what would be listed now."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cogvault.indexing.reading import is_trusted
from cogvault.indexing.scan import stamp_of
from cogvault.lifecycle.folder_names import FolderNames
from cogvault.types import Action, Draft
from tests.lifecycle.test_record import Shelf


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every folder that is listed."""
    found: list[Path] = []
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: found.append(path) or listdir(path))
    return found


def make(folder: Path, name: str) -> None:
    """A file whose folder cannot be changed again without a sign."""
    (folder / name).write_text("text")
    while not is_trusted(stamp_of(folder.stat()), time.time_ns()):
        time.sleep(0.001)


def clashing(names: FolderNames, folder: Path) -> frozenset[str]:
    return names.look(folder, frozenset).clashing


def test_only_names_with_capitals_are_given(tmp_path: Path) -> None:
    for name in ("Note_A.md", "note_b.md", "ÉTÉ.md"):
        make(tmp_path, name)
    assert clashing(FolderNames(), tmp_path) == {"note_a.md", "été.md"}
    assert clashing(FolderNames(), tmp_path / "new") == frozenset()


def test_a_folder_that_only_its_user_changes_is_listed_once(tmp_path: Path, listed: list[Path]) -> None:
    names = FolderNames(Clock())
    make(tmp_path, "Old.md")
    for name in ("new.md", "Named.md"):
        assert "old.md" in clashing(names, tmp_path)
        make(tmp_path, name)
        names.wrote(tmp_path / name)
    assert clashing(names, tmp_path) == clashing(FolderNames(), tmp_path) == {"old.md", "named.md"}
    assert len(listed) == 2, "once by each"


def test_what_another_program_makes_is_seen(tmp_path: Path) -> None:
    names = FolderNames(Clock())
    make(tmp_path, "Old.md")
    clashing(names, tmp_path)
    make(tmp_path, "own.md")
    names.wrote(tmp_path / "own.md")
    make(tmp_path, "Theirs.md")
    assert clashing(names, tmp_path) == {"old.md", "theirs.md"}
    (tmp_path / "Old.md").unlink()
    assert clashing(names, tmp_path) == {"theirs.md"}


def test_what_hides_behind_a_write_is_seen_a_second_later(tmp_path: Path) -> None:
    clock = Clock()
    names = FolderNames(clock)
    make(tmp_path, "own.md")
    clashing(names, tmp_path)
    make(tmp_path, "Theirs.md")
    names.wrote(tmp_path / "own.md")
    clock.now += 1.1
    assert clashing(names, tmp_path) == {"theirs.md"}


def test_folders_are_told_apart(tmp_path: Path) -> None:
    names = FolderNames(Clock())
    names.wrote(tmp_path / "Before.md")
    (tmp_path / "x").mkdir()
    make(tmp_path / "x", "A.md")
    assert clashing(names, tmp_path / "x") == {"a.md"}
    assert clashing(names, tmp_path) == frozenset()
    (tmp_path / "x" / "A.md").unlink()
    (tmp_path / "x").rmdir()
    assert clashing(names, tmp_path / "x") == frozenset()
    make(tmp_path, "Theirs.md")
    names.wrote(tmp_path / "x" / "own.md")
    assert clashing(names, tmp_path) == {"theirs.md"}


def test_a_card_avoids_names_made_between_two_records(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf.recorder.record(Draft("Monday plan", "Standup")).id == "note_standup.md"
    make(shelf.root, "NOTE_Retro.md")
    assert shelf.recorder.record(Draft("Ana is away", "Retro")).id == "note_retro-2.md"
    assert shelf.recorder.record(Draft("Named", to="Note_Budget.md")).id == "Note_Budget.md"
    make(shelf.root, "NOTE_Trip.md")
    assert shelf.recorder.record(Draft("Budget is 5", "Budget")).id == "note_budget-2.md"
    assert shelf.recorder.record(Draft("Trip to Rome", "Trip")).id == "note_trip-2.md"


def test_what_appeared_is_told_once_and_own_names_never(tmp_path: Path) -> None:
    clock = Clock()
    names = FolderNames(clock)
    for name in ("known.md", "Other.md"):
        make(tmp_path, name)
    assert names.look(tmp_path, lambda: frozenset({"known.md"})).appeared == ("Other.md",)
    make(tmp_path, "own.md")
    names.wrote(tmp_path / "own.md")
    make(tmp_path, "b.md")
    make(tmp_path, "a.md")
    assert names.look(tmp_path, frozenset).appeared == ("a.md", "b.md")
    clock.now += 1.1
    assert names.look(tmp_path, frozenset).appeared == ()


def test_folders_in_turn_read_no_own_card_and_find_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)
    read: list[str] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    for number in range(12):
        for who in ("ana", "bob"):
            text = " ".join(f"{who}{number}word{place}" for place in range(9))
            shelf.recorder.record(Draft(text, f"{who} {number}", to=f"user/{who}/"))
    assert read == []
    monkeypatch.undo()
    make(shelf.root / "user" / "ana", "theirs.md")
    (shelf.root / "user" / "ana" / "theirs.md").write_text("The deploy key lives in the blue safe.\n")
    shelf.recorder.record(Draft("Bob has no key.", to="user/bob/"))
    found = shelf.recorder.record(Draft("The deploy key lives in the blue safe.", "Key", to="user/ana/"))
    assert (found.action, found.id) == (Action.EXISTING, "user/ana/theirs.md")


def test_the_folders_looked_at_last_are_kept(tmp_path: Path, listed: list[Path]) -> None:
    names = FolderNames(Clock())
    folders = [tmp_path / str(number) for number in range(9)]
    for folder in folders:
        folder.mkdir()
        make(folder, "Own.md")
    for folder in (*folders[:8], folders[0], folders[8], *folders[2:], folders[0]):
        clashing(names, folder)
    assert listed == folders
    clashing(names, folders[1])
    assert listed == [*folders, folders[1]]
