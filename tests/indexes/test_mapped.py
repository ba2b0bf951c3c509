"""Mapped keyword files are mapped anew beyond their budget, and read as before after that."""

from __future__ import annotations

import mmap
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import lexical
from cogvault.indexes.local.lexical import Lexical
from cogvault.indexes.local.mapped import MappedBudget
from cogvault.protocols import Snapshot
from cogvault.testing.records import record
from cogvault.text.queries import query_terms
from cogvault.types import ChangeSet, Filter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is mapped")

PAGE = mmap.PAGESIZE
# Far more than a kernel may miscount.
BYTES = 2048 * PAGE
QUESTIONS = ("word3 something", "and", "word1")


def mapping(path: Path) -> mmap.mmap:
    """A file of ``BYTES`` bytes, mapped and read."""
    path.write_bytes(b"x" * BYTES)
    with path.open("r+b") as file:
        os.fsync(file.fileno())
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    assert all(mapped[place] == ord("x") for place in range(0, BYTES, PAGE))
    return mapped


def resident(folder: Path) -> int:
    """Kilobytes of a folder's files that count as this process's memory."""
    smaps = Path("/proc/self/smaps").read_text()
    found = re.findall(rf"{re.escape(str(folder))}/[^\n]*\nSize:[^\n]*\n(?:\w+:[^\n]*\n){{0,2}}Rss:\s+(\d+)", smaps)
    return sum(map(int, found))


def filled(folder: Path) -> LocalIndex:
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=tuple(record(f"{each}.md", f"word{each % 7} and something") for each in range(50))))
    return index


def answers(snapshot: Snapshot) -> list[tuple[list[int], list[float]]]:
    found = [snapshot.keyword(query_terms(text), Filter(), 20) for text in QUESTIONS]
    return [(each.chunks.tolist(), each.scores.tolist()) for each in found]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Keyword folders that were opened, in order; none may keep anything mapped."""
    folders: list[Path] = []
    really: Callable[[Path], object] = lexical.open_folder

    def counted(folder: Path) -> object:
        folders.append(folder)
        return really(folder)

    monkeypatch.setattr(lexical, "_MAPPED_BYTES", 0)
    monkeypatch.setattr(lexical, "open_folder", counted)
    # Whatever else is mapped meanwhile is nothing that a test depends on.
    monkeypatch.setattr(MappedBudget, "is_exceeded", lambda _: True)
    return folders


def test_a_budget_is_exceeded_by_what_came_since_only(tmp_path: Path) -> None:
    budget, larger = MappedBudget(BYTES // 2), MappedBudget(100 * BYTES)
    assert not budget.is_exceeded()
    with mapping(tmp_path / "a file"):
        assert budget.is_exceeded()
        assert not larger.is_exceeded()
    assert not budget.is_exceeded()


def test_what_came_to_others_is_not_asked_for_again_and_again(tmp_path: Path) -> None:
    budget = MappedBudget(BYTES + BYTES // 2)
    with mapping(tmp_path / "model"), mapping(tmp_path / "more"):
        assert budget.is_exceeded()
        budget.settle()
        with mapping(tmp_path / "keywords"):
            assert not budget.is_exceeded()


def test_answers_are_the_same_when_files_are_mapped_anew(tmp_path: Path, opened: list[Path]) -> None:
    before = answers(filled(tmp_path / "one").snapshot())
    opened.clear()
    snapshot = filled(tmp_path / "two").snapshot()
    for _ in range(2):
        assert answers(snapshot) == before
    assert len(opened) > 2 * len(QUESTIONS)


def test_what_was_mapped_is_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Lexical.create(tmp_path / "keyword", "a")
    numbers = [" ".join(str(each * chunk % 997) for each in range(200)) for chunk in range(1000)]
    folder.write([], [lexical.Document(at, at, text, text, text) for at, text in enumerate(numbers)], 1, threads=1)
    wanted = [lexical.Wanted(field, each, 1.0, 1.0) for field in ("exact", "stem", "gram") for each in range(997)]
    folder.view.search(wanted, 1000, None)
    held = resident(tmp_path / "keyword")
    monkeypatch.setattr(lexical, "_MAPPED_BYTES", 0)
    monkeypatch.setattr(MappedBudget, "is_exceeded", lambda _: True)
    settled: list[int] = []
    monkeypatch.setattr(MappedBudget, "settle", lambda _: settled.append(resident(tmp_path / "keyword")))
    folder.reload()
    folder.view.search(wanted, 1000, None)
    assert resident(tmp_path / "keyword") < held / 2
    # Else what is about to go would pass for what others have mapped, and so much more could be held.
    assert settled[-1] < held / 2


def test_a_state_that_others_left_behind_answers_as_it_was(tmp_path: Path, opened: list[Path]) -> None:
    index = filled(tmp_path / "index")
    snapshot = index.snapshot()
    before = answers(snapshot)
    other = LocalIndex(tmp_path / "index")
    other.apply(ChangeSet(put=(record("new.md", "word3 something new"),), remove=("3.md",)))
    after = answers(other.snapshot())
    assert answers(snapshot) == before != after
    assert answers(index.snapshot()) == after


def test_a_folder_that_is_gone_is_no_fault_of_the_search_that_wanted_it_anew(
    tmp_path: Path, opened: list[Path]
) -> None:
    folder = Lexical.create(tmp_path / "keyword", "a")
    folder.write([], [lexical.Document(1, 1, "1", "1", "1")], 1, threads=1)
    view = folder.view
    (tmp_path / "keyword").rename(tmp_path / "away")
    chunks, _ = view.search([lexical.Wanted("exact", 1, 1.0, 1.0)], 5, None)
    assert chunks.tolist() == [1]
