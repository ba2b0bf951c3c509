"""Paths that were written are told to others until somebody has seen them, and none is lost on the way."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cogvault.indexing.written import Written, WrittenPaths

ODD = ["plain.md", "Caf\u00e9/\u30c6.md", 'quote".md', "line\nbreak.md", os.fsdecode(b"caf\xe9.md")]


def test_others_are_told_until_they_are_taken_out(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(ODD[:2])
    mine.add(ODD[2:])
    seen = other.read()
    assert seen.paths == set(ODD)
    assert mine.read().paths == set(), "it knows its own"
    assert WrittenPaths(tmp_path).read().paths == set(ODD)
    other.take(seen)
    assert other.read() == mine.read() == Written()
    assert list(tmp_path.iterdir()) == []


def test_what_came_since_it_was_seen_stays(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(["a.md"])
    seen = other.read()
    mine.add(["b.md"])
    other.take(seen)
    assert other.read().paths == {"b.md"}


def test_equal_paths_that_were_written_again_stay(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(["a.md"])
    seen = other.read()
    WrittenPaths(tmp_path).take(other.read())
    mine.add(["a.md"])
    other.take(seen)
    assert other.read().paths == {"a.md"}


def test_no_path_is_lost_while_others_take(tmp_path: Path) -> None:
    done, told = threading.Event(), {f"{writer}/{n}.md" for writer in range(4) for n in range(150)}
    seen: set[str] = set()

    def write(writer: int) -> None:
        mine = WrittenPaths(tmp_path)
        for n in range(150):
            mine.add([f"{writer}/{n}.md"])

    def take() -> None:
        other = WrittenPaths(tmp_path)
        while not done.is_set():
            found = other.read()
            seen.update(found.paths)
            other.take(found)

    with ThreadPoolExecutor(5) as pool:
        taking = pool.submit(take)
        for writing in [pool.submit(write, writer) for writer in range(4)]:
            writing.result()
        done.set()
        taking.result()
    seen.update(WrittenPaths(tmp_path).read().paths)
    assert seen == told


@pytest.mark.parametrize(
    "damage", [b"garbage", b"\xff\xfe", b"[]", b"[1, 2]", b'"text"', b'["x", "y", "lost', b"[" * 100_000]
)
def test_a_damaged_line_tells_nothing_and_harms_no_other(tmp_path: Path, damage: bytes) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(["a.md"])
    with (tmp_path / "written").open("ab") as file:
        file.write(damage)
    mine.add(["b.md"])
    seen = other.read()
    assert seen.paths == {"a.md", "b.md"}
    other.take(seen)
    assert other.read() == Written()


def test_a_line_that_is_being_written_is_not_taken_out(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(["a.md"])
    whole = (tmp_path / "written").read_bytes()
    with (tmp_path / "written").open("ab") as file:
        file.write(whole[:20])
    seen = other.read()
    with (tmp_path / "written").open("ab") as file:
        file.write(whole[20:].replace(b"a.md", b"b.md"))
    other.take(seen)
    assert other.read().paths == {"b.md"}


def test_where_it_cannot_be_written_nobody_is_told(tmp_path: Path) -> None:
    (tmp_path / "written").mkdir()
    for folder in (tmp_path, tmp_path / "none"):
        mine = WrittenPaths(folder)
        mine.add(["a.md"])
        assert WrittenPaths(folder).read() == Written()
        mine.take(Written(frozenset({"a.md"}), b"x\n"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_it_is_private(tmp_path: Path) -> None:
    WrittenPaths(tmp_path).add(["a.md"])
    assert stat.S_IMODE((tmp_path / "written").stat().st_mode) == 0o600
