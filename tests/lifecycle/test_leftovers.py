"""What a killed writer left beside a card holds its text: it goes with the next write, and with a purge."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogvault.cards import writer
from cogvault.indexing.folders import ScanOptions
from cogvault.lifecycle.leftovers import clear_leftovers
from cogvault.types import Action
from tests.lifecycle.conftest import Desk

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills, and asks for processes, as POSIX has it")

_KILLED = """
import os, sys
import cogvault.cards.writer as writer
from pathlib import Path

def die(*_):
    os.kill(os.getpid(), 9)

if sys.argv[2] == "link":
    Path.unlink = die
else:
    os.fsync = die
writer.write_atomic(Path(sys.argv[1]), b"canary\\n", expected_hash=None)
"""


def killed(path: Path, at: str) -> None:
    """A process that dies while it writes this card."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path), at], timeout=60, check=False)
    assert done.returncode == -9


def temps(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob(".cogvault-*"))


@pytest.mark.parametrize("at", ["write", "link"])
def test_the_next_write_takes_away_what_a_kill_left(desk: Desk, at: str) -> None:
    killed(desk.root / "a.md", at)
    killed(desk.root / "user/ana/b.md", at)
    assert len(temps(desk.root)) == 2
    desk.vault.record("wombat")
    assert temps(desk.root) == []
    assert (desk.root / "a.md").exists() == (at == "link")


def test_a_purge_leaves_no_text_in_what_a_kill_left_meanwhile(desk: Desk) -> None:
    desk.vault.record("wombat")
    killed(desk.root / "a.md", "link")
    desk.vault.sync()
    desk.vault.forget("a.md", purge=True)
    assert not [path for path in desk.root.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]


def test_a_purge_from_the_archive_does_too(desk: Desk) -> None:
    killed(desk.root / "a.md", "write")
    (desk.root / "a.md").write_text("canary\n")
    desk.vault.sync()
    desk.vault.forget("a.md")
    killed(desk.root / "b.md", "write")
    desk.vault.purge("a.md")
    assert not [path for path in desk.root.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]


def test_a_sweep_that_purges_walks_the_vault_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = desk.open(forgetting_archive_before_delete=False)
    vault.record("wombat", pinned=True)
    for name in ("a.md", "b.md", "c.md"):
        (desk.root / name).write_text(f"canary {name}\n")
        os.utime(desk.root / name, (0, 0))
    killed(desk.root / "user/ana/d.md", "write")
    walks: list[Path] = []

    def walk(root: Path, options: ScanOptions) -> int:
        walks.append(root)
        return clear_leftovers(root, options)

    monkeypatch.setattr("cogvault.lifecycle.workspace.clear_leftovers", walk)
    report = vault.sweep(apply=True, purge=True)
    assert [item.action for item in report.weak] == [Action.PURGED] * 3
    assert len(walks) == 1
    assert not [path for path in desk.root.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    mine = tmp_path / f".cogvault-{writer._machine()}-{os.getpid()}-0123456789abcdef.tmp"  # noqa: SLF001
    others = tmp_path / ".cogvault-00000000-1-0123456789abcdef.tmp"
    earlier = tmp_path / ".cogvault-0123456789abcdef.tmp"
    named = tmp_path / ".cogvault-notes.tmp"
    for path in (mine, others, earlier, named):
        path.write_text("text")
    assert clear_leftovers(tmp_path, ScanOptions()) == 0
    for path in (others, earlier, named):
        os.utime(path, (0, 0))
    assert clear_leftovers(tmp_path, ScanOptions()) == 2
    assert temps(tmp_path) == sorted([mine.name, named.name])


def test_a_number_that_another_process_has_by_now_keeps_nothing_for_ever(tmp_path: Path) -> None:
    left = tmp_path / f".cogvault-{writer._machine()}-{os.getpid()}-0123456789abcdef.tmp"  # noqa: SLF001
    left.write_text("text")
    os.utime(left, (0, 0))
    assert clear_leftovers(tmp_path, ScanOptions()) == 1
    assert temps(tmp_path) == []


def test_folders_that_are_not_walked_are_left_alone(tmp_path: Path) -> None:
    names = ("notes", ".git", ".archive")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / ".cogvault-0123456789abcdef.tmp").touch()
        os.utime(tmp_path / name / ".cogvault-0123456789abcdef.tmp", (0, 0))
    assert clear_leftovers(tmp_path, ScanOptions()) == 0
    assert clear_leftovers(tmp_path, ScanOptions(recursive=True)) == 1
    assert temps(tmp_path) == [f"{name}/.cogvault-0123456789abcdef.tmp" for name in (".archive", ".git")]
