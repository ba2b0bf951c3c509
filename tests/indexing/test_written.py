"""Paths that were written are told to others until somebody has seen them, and none is lost on the way."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cogvault.indexing import written
from cogvault.indexing.written import Written, WrittenPaths
from tests.indexing.support import Desk

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


def test_what_was_set_apart_and_cannot_be_put_back_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    mine.add(["a.md"])
    (tmp_path / "written").rename(tmp_path / "written.taken")  # as one leaves it that is killed
    mine.add(["b.md"])
    seen = other.read().among(["b.md"])
    monkeypatch.setattr(written, "_ATTEMPTS", 0)  # the file is exchanged by others each time
    other.take(seen)
    assert other.read().paths == {"a.md", "b.md"}
    monkeypatch.undo()
    other.take(seen)
    assert other.read().paths == {"a.md"}


def test_lines_are_taken_out_one_by_one(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    for paths in (["a.md"], ["b.md", "c.md"], ["d.md"]):
        mine.add(paths)
    other.take(other.read().among(["b.md", "d.md", "a.md"]))
    assert other.read().paths == {"b.md", "c.md"}


def test_a_sync_of_some_paths_takes_out_what_it_looked_at(vault: Path) -> None:
    desk = Desk(vault)
    desk.write("a.md", "alpha")
    desk.syncer.sync()
    others = WrittenPaths(desk.lock_folder)
    for path in ("a.md", "b.md", "c.md"):
        others.add([path])
    desk.write("c.md", "gamma")
    desk.syncer.sync(paths=["a.md"])  # finds nothing to do
    desk.syncer.sync(paths=[desk.root / "c.md"])
    assert WrittenPaths(desk.lock_folder).read().paths == {"b.md"}
    desk.syncer.sync(paths=["."])
    assert WrittenPaths(desk.lock_folder).read() == Written()


def test_who_has_another_index_tells_and_is_told_nothing(tmp_path: Path) -> None:
    shared, apart = WrittenPaths(tmp_path), WrittenPaths(tmp_path, is_shared=False)
    shared.add(["a.md"])
    apart.add(["b.md"])
    seen = apart.read()
    apart.take(seen)
    assert seen == Written()
    assert WrittenPaths(tmp_path).read().paths == {"a.md", "b.md"}


def test_however_much_is_written_little_is_told(tmp_path: Path) -> None:
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    other.add(["b.md"])
    for _ in range(3000):
        mine.add(["a.md"])
    assert (tmp_path / "written").stat().st_size < 70_000
    assert mine.read().paths == {"."}, "what others told was told to it with that"
    assert other.read().paths == {".", "a.md"}
    assert [file.name for file in tmp_path.iterdir()] == ["written"]


def test_much_that_is_told_during_a_look_is_not_taken_out_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "_LARGEST_BYTES", 100)
    mine, other = WrittenPaths(tmp_path), WrittenPaths(tmp_path)
    for _ in range(2):
        mine.add(["a.md", "b.md"])
    seen = other.read()
    assert seen.paths == {"."}
    for _ in range(2):
        mine.add(["a.md", "b.md"])
    other.take(seen)
    assert other.read().paths == {"."}


@pytest.mark.parametrize("largest", [1 << 30, 500])
def test_no_path_is_lost_while_others_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    monkeypatch.setattr(written, "_LARGEST_BYTES", largest)
    done, told = threading.Event(), {f"{writer}/{n}.md" for writer in range(4) for n in range(150)}
    saved: set[str] = set()
    seen: set[str] = set()

    def look(found: Written) -> None:
        seen.update(saved.copy() if "." in found.paths else found.paths)

    def write(writer: int) -> None:
        mine = WrittenPaths(tmp_path)
        for n in range(150):
            saved.add(path := f"{writer}/{n}.md")
            mine.add([path])

    def take() -> None:
        other, turn = WrittenPaths(tmp_path), 0
        while not done.is_set():
            found, turn = other.read(), turn + 1
            # Now and then only some of it is looked at.
            found = found if turn % 2 else found.among([".", *sorted(found.paths)[::2]])
            look(found)
            other.take(found)

    with ThreadPoolExecutor(5) as pool:
        taking = pool.submit(take)
        for writing in [pool.submit(write, writer) for writer in range(4)]:
            writing.result()
        done.set()
        taking.result()
    look(WrittenPaths(tmp_path).read())
    assert seen == told


@pytest.mark.parametrize(
    "damage", [b"garbage", b"\xff\xfe", b"[]", b"[1, 2]", b'"text"', b'["x", "y", "lost', b"[" * 50_000]
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
        mine.take(Written(frozenset({"a.md"}), {b"x": frozenset({"a.md"})}))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_it_is_private(tmp_path: Path) -> None:
    WrittenPaths(tmp_path).add(["a.md"])
    assert stat.S_IMODE((tmp_path / "written").stat().st_mode) == 0o600
