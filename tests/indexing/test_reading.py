from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexing.reading import is_trusted, read_file
from cogvault.indexing.scan import stamp_of
from cogvault.types import Stamp

LATER_NS = time.time_ns() + 3_600_000_000_000
CAP = 1 << 20


def later() -> int:
    return LATER_NS


def test_bytes_hash_and_stamp_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"text")
    read = read_file(path, CAP, later)
    assert read.data == b"text"
    assert read.hash == hashlib.sha256(b"text").hexdigest()
    assert read.stamp == stamp_of(path.stat())
    assert not read.cut


def test_a_file_that_changed_just_now_gets_a_stamp_that_equals_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"text")
    read = read_file(path, CAP, lambda: path.stat().st_ctime_ns + 1)
    assert read.stamp != stamp_of(path.stat())
    assert (read.stamp.size, read.stamp.mtime_ns) == (4, path.stat().st_mtime_ns)


@pytest.mark.parametrize(
    ("stamp", "age_ns", "trusted"),
    [
        (Stamp(1, 0, 1, 1_000_000_123_456_789), 10_000_000, False),
        (Stamp(1, 0, 1, 1_000_000_123_456_789), 60_000_000, True),
        (Stamp(1, 0, 1, 1_000_000_000_000_000), 60_000_000, False),
        (Stamp(1, 0, 1, 1_000_000_000_000_000), 2_200_000_000, True),
        (Stamp(1, 1_000_000_123_456_789, 0, 0), 10_000_000, False),
        (Stamp(1, 1_000_000_123_456_789, 0, 0), 60_000_000, True),
    ],
)
def test_trust_needs_a_tick_of_the_file_systems_clock(stamp: Stamp, age_ns: int, trusted: bool) -> None:
    assert is_trusted(stamp, (stamp.ctime_ns or stamp.mtime_ns) + age_ns) is trusted


def test_a_file_dated_in_the_future_is_trusted_by_its_change_time(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"text")
    os.utime(path, ns=(LATER_NS * 2, LATER_NS * 2))
    assert read_file(path, CAP, later).stamp == stamp_of(path.stat())


def test_a_large_file_is_cut_but_hashed_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    data = os.urandom(3 << 20)
    path.write_bytes(data)
    read = read_file(path, 100, later)
    assert read.data in [data[:length] for length in range(97, 101)]
    assert read.hash == hashlib.sha256(data).hexdigest()
    assert read.cut


def test_a_file_of_exactly_the_cap_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 100)
    assert not read_file(path, 100, later).cut


@given(text=st.text(min_size=1, max_size=30), cap=st.integers(1, 60))
def test_the_cut_falls_between_characters(tmp_path_factory: pytest.TempPathFactory, text: str, cap: int) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.md"
    path.write_bytes(text.encode("utf-8"))
    read = read_file(path, cap, later)
    assert text.startswith(read.data.decode("utf-8"))
    assert cap - 4 < len(read.data) <= cap or not read.cut


def test_a_file_that_changes_under_the_reader_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"half")
    plain = os.read
    writes = [b"half and the rest"]

    def read(handle: int, count: int) -> bytes:
        block = plain(handle, count)
        if not block and writes:
            path.write_bytes(writes.pop())
        return block

    monkeypatch.setattr(os, "read", read)
    assert read_file(path, CAP, later).data == b"half and the rest"


def test_a_file_that_never_rests_is_marked_for_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"0")
    plain = os.read

    def read(handle: int, count: int) -> bytes:
        block = plain(handle, count)
        if not block:
            with path.open("ab") as file:
                file.write(b"+")
        return block

    monkeypatch.setattr(os, "read", read)
    assert read_file(path, CAP, later).stamp != stamp_of(path.stat())


def test_links_folders_and_pipes_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "target.md").write_text("x")
    (tmp_path / "link.md").symlink_to("target.md")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("link.md", "folder.md", "pipe.md", "nothing.md"):
        with pytest.raises(OSError, match=r".+"):
            read_file(tmp_path / name, CAP, later)


def test_a_replaced_file_is_read_whole_from_one_version(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    versions = [bytes([65 + i]) * 300_000 for i in range(2)]
    path.write_bytes(versions[0])
    stop = threading.Event()

    def replace() -> None:
        count = 0
        while not stop.is_set():
            count += 1
            spare = tmp_path / "spare"
            spare.write_bytes(versions[count % 2])
            spare.replace(path)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(50):
            assert read_file(path, CAP, later).data in versions
    finally:
        stop.set()
        writer.join()
