"""Mapped keyword files are let go of beyond their budget, and read as before after that."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import lexical
from cogvault.indexes.local.mapped import MappedFolder
from cogvault.testing.records import record
from cogvault.text.queries import query_terms
from cogvault.types import ChangeSet, Filter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is mapped")

PAGE = mmap.PAGESIZE
# Far more than a kernel may miscount.
BYTES = 2048 * PAGE
# Pages that a processor has only just seen cannot be paged out.
FEW_KB = BYTES // 8 // 1024


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder whose files can be paged out."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout
    if kind.strip() in ("tmpfs", "ramfs"):
        pytest.skip("files in memory alone cannot be paged out")
    return tmp_path


def resident(folder: Path) -> int:
    """Kilobytes of a folder's files that count as this process's memory."""
    smaps = Path("/proc/self/smaps").read_text()
    found = re.findall(rf"{re.escape(str(folder))}/[^\n]*\nSize:[^\n]*\n(?:\w+:[^\n]*\n){{0,2}}Rss:\s+(\d+)", smaps)
    return sum(map(int, found))


def mapping(path: Path) -> mmap.mmap:
    path.write_bytes(b"".join(number.to_bytes(2, "little") * (PAGE // 2) for number in range(BYTES // PAGE)))
    with path.open("r+b") as file:
        os.fsync(file.fileno())
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def touched(mapped: mmap.mmap) -> list[int]:
    return [int.from_bytes(mapped[place : place + 2], "little") for place in range(0, BYTES, PAGE)]


@pytest.mark.parametrize(("budget", "left"), [(BYTES // 2, 0), (100 * BYTES, BYTES // 1024)])
def test_files_are_let_go_of_beyond_the_budget_only(disk: Path, budget: int, left: int) -> None:
    folder = MappedFolder(disk, budget)
    with mapping(disk / "a file") as mapped:
        before = touched(mapped)
        assert resident(disk) == BYTES // 1024
        folder.keep_to_budget()
        assert left <= resident(disk) <= left + FEW_KB
        assert touched(mapped) == before == list(range(BYTES // PAGE))


def test_files_of_other_folders_and_those_that_may_be_written_stay(disk: Path) -> None:
    (disk / "in").mkdir()
    (disk / "inner").mkdir()
    folder = MappedFolder(disk / "in", 0)
    with (
        mapping(disk / "inner" / "file") as other,
        mapping(disk / "in" / "read") as mapped,
        mapping(disk / "in" / "written"),
        (disk / "in" / "written").open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as written,
    ):
        assert touched(other) == touched(mapped) == touched(written)
        folder.keep_to_budget()
        assert resident(disk / "inner") == BYTES // 1024
        assert BYTES // 1024 <= resident(disk / "in") <= BYTES // 1024 + FEW_KB  # of the one that may be written


def test_memory_that_took_the_place_of_a_file_keeps_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mmap.mmap(-1, BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.write(b"A" * BYTES)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))

        def stale(_: MappedFolder) -> Iterator[tuple[int, int]]:
            yield start, start + BYTES

        monkeypatch.setattr(MappedFolder, "_ranges", stale)
        MappedFolder(tmp_path, -1).keep_to_budget()
        assert memory[:] == b"A" * BYTES


def test_what_came_to_others_is_not_let_go_of_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    folder = MappedFolder(tmp_path / "in", BYTES + BYTES // 2)
    with mapping(tmp_path / "model") as model, mapping(tmp_path / "more") as more:
        touched(model), touched(more)
        folder.keep_to_budget()
        with mapping(tmp_path / "in" / "file") as mapped:
            touched(mapped)
            folder.keep_to_budget()
            assert resident(tmp_path / "in") == BYTES // 1024


def test_answers_are_the_same_when_everything_is_let_go_of(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tuple(record(f"{number}.md", f"word{number % 7} and something") for number in range(50))
    with_budget = LocalIndex(disk / "one")
    with_budget.apply(ChangeSet(put=records))
    monkeypatch.setattr(lexical, "_MAPPED_BYTES", 0)
    without = LocalIndex(disk / "two")
    without.apply(ChangeSet(put=records))
    for text in ("word3 something", "and", "word1"):
        terms = query_terms(text)
        for _ in range(2):
            one, two = (index.snapshot().keyword(terms, Filter(), 20) for index in (with_budget, without))
            assert (one.chunks.tolist(), one.scores.tolist()) == (two.chunks.tolist(), two.scores.tolist())
            assert resident(disk / "two" / "keyword-1") < resident(disk / "one" / "keyword-1")
