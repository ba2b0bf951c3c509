"""Whoever is killed while it tells what it wrote, or takes out what was told, loses nothing and leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogvault.indexing.written import Written, WrittenPaths

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

ROOT = Path(__file__).parents[2]
FEWEST_LINES = 20


def killed(work: str, base: Path) -> list[Path]:
    """Index folders in which one was killed at this work, each before another line of it."""
    subprocess.run([sys.executable, "-W", "ignore", "-m", "tests.crash.told", work, str(base)], cwd=ROOT, check=True)
    folders = list(base.iterdir())
    assert len(folders) > FEWEST_LINES
    return folders


def finish(folder: Path) -> None:
    """Take out all that is told there."""
    told = WrittenPaths(folder)
    told.take(told.read())
    assert told.read() == Written()
    assert list(folder.iterdir()) == []


def test_who_is_killed_while_it_takes_paths_out_loses_none_and_leaves_nothing(tmp_path: Path) -> None:
    for folder in killed("take", tmp_path):
        taker = WrittenPaths(folder)
        assert taker.read().paths >= {"other.md"}
        WrittenPaths(folder).add(["later.md"])
        taker.take(taker.read().among(["seen.md"]))
        assert taker.read().paths == {"other.md", "later.md"}
        finish(folder)


def test_who_is_killed_while_it_puts_one_line_in_place_of_many_loses_none_and_leaves_nothing(tmp_path: Path) -> None:
    for folder in killed("add", tmp_path):
        told = WrittenPaths(folder).read().paths
        assert "." in told or told >= {"seen.md", "other.md"}
        finish(folder)
