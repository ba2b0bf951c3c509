"""Mapped keyword files are let go of beyond their budget, and read as before after that."""

from __future__ import annotations

import mmap
import re
import sys
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


def resident(folder: Path) -> int:
    """Kilobytes of a folder's files that count as this process's memory."""
    smaps = Path("/proc/self/smaps").read_text()
    found = re.findall(rf"{re.escape(str(folder))}/[^\n]*\nSize:[^\n]*\n(?:\w+:[^\n]*\n){{0,2}}Rss:\s+(\d+)", smaps)
    return sum(map(int, found))


def mapping(path: Path) -> mmap.mmap:
    path.write_bytes(b"".join(number.to_bytes(2, "little") * (PAGE // 2) for number in range(BYTES // PAGE)))
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def touched(mapped: mmap.mmap) -> list[int]:
    return [int.from_bytes(mapped[place : place + 2], "little") for place in range(0, BYTES, PAGE)]


@pytest.mark.parametrize(("budget", "left"), [(BYTES // 2, 0), (100 * BYTES, BYTES // 1024)])
def test_files_are_let_go_of_beyond_the_budget_only(tmp_path: Path, budget: int, left: int) -> None:
    folder = MappedFolder(tmp_path, budget)
    with mapping(tmp_path / "a file") as mapped:
        before = touched(mapped)
        assert resident(tmp_path) == BYTES // 1024
        folder.keep_to_budget()
        assert resident(tmp_path) == left
        assert touched(mapped) == before == list(range(BYTES // PAGE))


def test_files_of_other_folders_and_those_that_may_be_written_stay(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "inner").mkdir()
    folder = MappedFolder(tmp_path / "in", 0)
    with (
        mapping(tmp_path / "inner" / "file") as other,
        mapping(tmp_path / "in" / "read") as mapped,
        (tmp_path / "in" / "read").open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as written,
    ):
        assert touched(other) == touched(mapped) == touched(written)
        folder.keep_to_budget()
        assert resident(tmp_path / "inner") == BYTES // 1024
        assert resident(tmp_path / "in") == BYTES // 1024  # of the one that may be written


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


def test_answers_are_the_same_when_everything_is_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tuple(record(f"{number}.md", f"word{number % 7} and something") for number in range(50))
    with_budget = LocalIndex(tmp_path / "one")
    with_budget.apply(ChangeSet(put=records))
    monkeypatch.setattr(lexical, "_MAPPED_BYTES", 0)
    without = LocalIndex(tmp_path / "two")
    without.apply(ChangeSet(put=records))
    for text in ("word3 something", "and", "word1"):
        terms = query_terms(text)
        for _ in range(2):
            one, two = (index.snapshot().keyword(terms, Filter(), 20) for index in (with_budget, without))
            assert (one.chunks.tolist(), one.scores.tolist()) == (two.chunks.tolist(), two.scores.tolist())
            assert resident(tmp_path / "two" / "keyword-1") == 0
            assert resident(tmp_path / "one" / "keyword-1") > 0
