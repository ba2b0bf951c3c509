"""Which events matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.indexing.events import not_ignored, wakes
from cogvault.indexing.scan import ScanOptions


@pytest.mark.parametrize("path", ["n.md", "a/N.MD", "a/b/.gitignore", ".cogvaultignore"])
def test_cards_and_ignore_files_wake(path: str) -> None:
    assert wakes(path, is_folder=False, recursive=True)


@pytest.mark.parametrize(
    "path", ["n.md~", ".#n.md", "n.tmp", "~$n.md", "4913", ".obsidian/n.md", "a/.git/x/n.md", "photo.png"]
)
def test_scratch_hidden_and_other_files_do_not_wake(path: str) -> None:
    assert not wakes(path, is_folder=False, recursive=True)


def test_folders_wake_only_a_vault_that_has_them() -> None:
    assert wakes("a/b", is_folder=True, recursive=True)
    assert wakes("", is_folder=True, recursive=False)
    assert not wakes("a", is_folder=True, recursive=False)
    assert not wakes("a/n.md", is_folder=False, recursive=False)
    assert not wakes(".git", is_folder=True, recursive=True)


def test_ignored_files_and_folders_are_left_out_by_the_patterns_of_now(folder: Path) -> None:
    paths = [folder / name for name in ("keep.md", "draft.md", "templates", "templates/t.md", "templates/.gitignore")]
    options = ScanOptions(recursive=True, ignore=("draft.md",))
    (folder / ".cogvaultignore").write_text("templates/\n")
    assert not_ignored(folder, options, paths) == {folder / "keep.md"}
    (folder / ".cogvaultignore").unlink()
    assert not_ignored(folder, options, paths) == set(paths) - {folder / "draft.md"}
