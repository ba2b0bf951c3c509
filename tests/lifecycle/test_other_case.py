"""Which names a new card must not have, though they are free: what was listed before is what would be listed now."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cogvault.indexing.reading import is_trusted
from cogvault.indexing.scan import stamp_of
from cogvault.lifecycle.other_case import OtherCase
from cogvault.types import Draft
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


def test_only_names_with_capitals_are_given(tmp_path: Path) -> None:
    for name in ("Note_A.md", "note_b.md", "ÉTÉ.md"):
        make(tmp_path, name)
    assert OtherCase().names(tmp_path) == {"note_a.md", "été.md"}
    assert OtherCase().names(tmp_path / "new") == frozenset()


def test_a_folder_that_only_its_user_changes_is_listed_once(tmp_path: Path, listed: list[Path]) -> None:
    other_case = OtherCase(Clock())
    make(tmp_path, "Old.md")
    for name in ("new.md", "Named.md"):
        assert "old.md" in other_case.names(tmp_path)
        make(tmp_path, name)
        other_case.wrote(name)
    assert other_case.names(tmp_path) == OtherCase().names(tmp_path) == {"old.md", "named.md"}
    assert len(listed) == 2, "once by each"


def test_what_another_program_makes_is_seen(tmp_path: Path) -> None:
    other_case = OtherCase(Clock())
    make(tmp_path, "Old.md")
    other_case.names(tmp_path)
    make(tmp_path, "own.md")
    other_case.wrote("own.md")
    make(tmp_path, "Theirs.md")
    assert other_case.names(tmp_path) == {"old.md", "theirs.md"}
    (tmp_path / "Old.md").unlink()
    assert other_case.names(tmp_path) == {"theirs.md"}


def test_what_hides_behind_a_write_is_seen_a_second_later(tmp_path: Path) -> None:
    clock = Clock()
    other_case = OtherCase(clock)
    make(tmp_path, "own.md")
    other_case.names(tmp_path)
    make(tmp_path, "Theirs.md")
    other_case.wrote("own.md")
    clock.now += 1.1
    assert other_case.names(tmp_path) == {"theirs.md"}


def test_folders_are_told_apart(tmp_path: Path) -> None:
    other_case = OtherCase(Clock())
    other_case.wrote("Before.md")
    (tmp_path / "x").mkdir()
    make(tmp_path / "x", "A.md")
    assert other_case.names(tmp_path / "x") == {"a.md"}
    assert other_case.names(tmp_path) == frozenset()
    (tmp_path / "x" / "A.md").unlink()
    (tmp_path / "x").rmdir()
    assert other_case.names(tmp_path / "x") == frozenset()
    make(tmp_path, "Theirs.md")
    other_case.wrote("own.md")  # in x, which is made by now
    assert other_case.names(tmp_path) == {"theirs.md"}


def test_a_card_avoids_names_made_between_two_records(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf.recorder.record(Draft("Monday plan", "Standup")).id == "note_standup.md"
    make(shelf.root, "NOTE_Retro.md")
    assert shelf.recorder.record(Draft("Ana is away", "Retro")).id == "note_retro-2.md"
    assert shelf.recorder.record(Draft("Named", to="Note_Budget.md")).id == "Note_Budget.md"
    make(shelf.root, "NOTE_Trip.md")
    assert shelf.recorder.record(Draft("Budget is 5", "Budget")).id == "note_budget-2.md"
    assert shelf.recorder.record(Draft("Trip to Rome", "Trip")).id == "note_trip-2.md"
