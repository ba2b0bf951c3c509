"""Files that were left out are named in every process, not only in the one that synced."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from cogvault.cards import MarkdownCardParser
from cogvault.indexing import cardfiles
from cogvault.indexing.last_problems import LastProblems
from cogvault.indexing.reading import FileBytes, read_file
from cogvault.types import Card, Problem, Status
from tests.vault.conftest import Shelf, shelf

__all__ = ["shelf"]

ONE, TWO = Problem("a.md", "name", "left out"), Problem("caf\udce9.md", "x", "cut off", line=3, key="date")


def test_what_was_kept_is_read_back_by_others(tmp_path: Path) -> None:
    LastProblems(tmp_path).keep((TWO,), (ONE, TWO, ONE))
    assert LastProblems(tmp_path).read() == (TWO, ONE)
    assert LastProblems(tmp_path).failed() == (TWO,)
    LastProblems(tmp_path).keep((), ())
    assert LastProblems(tmp_path).read() == ()


def test_a_look_at_some_files_adds_to_what_is_known(tmp_path: Path) -> None:
    kept = LastProblems(tmp_path)
    kept.keep((), (), TWO.path.__eq__)
    assert kept.read() is None  # of all the others nothing is known
    kept.keep((), (ONE,))
    kept.keep((), (), TWO.path.__eq__)
    kept.keep((TWO,), (), TWO.path.__eq__)
    assert kept.read() == (ONE, TWO)


def test_what_a_look_at_some_files_finds_well_is_told_no_more(tmp_path: Path) -> None:
    kept = LastProblems(tmp_path)
    kept.keep((ONE, TWO), ())
    worse = Problem(TWO.path, "unreadable", "cannot be read")
    kept.keep((worse,), (), TWO.path.__eq__)
    assert kept.failed() == (ONE, worse)
    kept.keep((), (), ONE.path.__eq__)
    assert LastProblems(tmp_path).read() == (worse,)


@pytest.mark.parametrize(
    "data",
    [b"", b"[", b"\xff", b"[1]", b"{}[]", b'[{"path": "a"}]', b'[{"path": 1, "code": "a", "message": "b"}]', b"7"],
)
def test_a_damaged_file_is_dropped_and_written_anew(tmp_path: Path, data: bytes) -> None:
    kept = LastProblems(tmp_path)
    (tmp_path / "problems.json").write_bytes(data)
    assert kept.read() is None
    assert not (tmp_path / "problems.json").exists()
    kept.keep((), (ONE,), ONE.path.__eq__)
    assert kept.read() == (ONE,)


def test_the_file_is_private_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    LastProblems(tmp_path / "index").keep((), (ONE,))
    assert stat.S_IMODE((tmp_path / "index" / "problems.json").stat().st_mode) == 0o600
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("no folder")
    LastProblems(tmp_path / "index").keep((), (ONE,))
    assert LastProblems(tmp_path / "index").read() is None


def test_a_new_process_names_the_files_that_were_left_out(shelf: Shelf) -> None:
    shelf.write("good.md", "wombat")
    shelf.write("nul.md", "a name that not every system has")
    (shelf.root / "link.md").symlink_to(shelf.root.parent / "outside.md")
    report = shelf.open().sync()
    left_out = {problem.path for problem in report.problems}
    assert left_out == {"nul.md", "link.md"}
    other = shelf.open()
    assert {problem.path for problem in other.status().problems} == left_out
    other.search("wombat")
    assert {problem.path for problem in other.status().problems} == left_out
    (shelf.root / "nul.md").unlink()
    (shelf.root / "link.md").unlink()
    other.search("wombat")
    assert shelf.open().status().problems == ()


def test_a_new_process_says_that_the_last_sync_could_not_index_a_file(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("good.md", "wombat")
    shelf.write("bad.md", "text")
    parse = MarkdownCardParser.parse

    def failing(parser: MarkdownCardParser, data: bytes, *, id: str, path: str) -> Card:
        if id == "bad.md":
            raise RuntimeError("a defect")
        return parse(parser, data, id=id, path=path)

    monkeypatch.setattr(MarkdownCardParser, "parse", failing)
    first = shelf.open()
    report = first.sync()
    assert report.status is Status.DEGRADED
    other = shelf.open()
    for vault in (first, other):
        status = vault.status()
        assert (status.status, status.reason, status.hint) == (report.status, report.reason, report.hint)
    monkeypatch.undo()
    assert other.search("wombat").status is Status.OK
    assert other.status().status is Status.OK
    assert shelf.open().status().status is Status.OK


def test_a_file_that_was_corrected_and_synced_alone_is_told_no_more(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good.md", "sub/bad.md", "sub/worse.md", "worst.md"):
        shelf.write(name, "wombat")
    failing = {"sub/bad.md", "sub/worse.md", "worst.md"}

    def locked(path: Path, *rest: Any) -> FileBytes:
        if path.relative_to(shelf.root).as_posix() in failing:
            raise PermissionError(13, "Permission denied")
        return read_file(path, *rest)

    monkeypatch.setattr(cardfiles, "read_file", locked)
    vault = shelf.open(refresh_seconds=3600)
    assert len(vault.sync().failed) == 3
    failing.remove("sub/bad.md")
    vault.update("sub/bad.md", append="a quokka")
    assert vault.search("quokka")
    told = LastProblems(Path(vault.status().index)).failed()
    assert [problem.path for problem in told] == ["sub/worse.md", "worst.md"]


def test_who_asks_again_and_again_sees_what_another_kept(tmp_path: Path) -> None:
    asked, other = LastProblems(tmp_path), LastProblems(tmp_path)
    for names in (("a.md",), ("a.md", "b.md"), ("c.md",), ()):
        other.keep([Problem(name, "unreadable", "cannot be read") for name in names], ())
        assert [[problem.path for problem in asked.failed()] for _ in range(2)] == [list(names)] * 2
