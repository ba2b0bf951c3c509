"""Files that are cut off, replaced or blocked under an open index; what would end the process has one of its own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.testing.records import ALL, record, terms
from cogvault.types import ChangeSet
from tests.blocking import to_folder, to_link

CARDS = tuple(record(f"{n}.md", *(f"text {n} {m} payment service" for m in range(20)), day=n) for n in range(6))
ROOT = Path(__file__).parents[2]


def to_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.fixture
def index(tmp_path: Path) -> LocalIndex:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=CARDS))
    index.apply(ChangeSet(put=CARDS[:1], remove=("5.md",)))
    return index


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
@pytest.mark.parametrize("block", [to_folder, to_link, to_pipe])
@pytest.mark.parametrize("name", ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"])
def test_what_stands_in_the_place_of_a_file_of_the_catalog_is_set_aside(
    index: LocalIndex, tmp_path: Path, name: str, block: Callable[[Path], None]
) -> None:
    folder = tmp_path / "index"
    index.close()
    block(folder / name)
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=CARDS))
    assert len(index.snapshot().cards) == 6
    assert index.verify() == []
    index.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
@pytest.mark.parametrize("block", [to_folder, to_link, to_pipe])
@pytest.mark.parametrize("name", ["catalog.sqlite-wal", "catalog.sqlite-shm"])
def test_an_index_in_use_goes_on_when_its_side_files_are_replaced(
    index: LocalIndex, tmp_path: Path, name: str, block: Callable[[Path], None]
) -> None:
    assert len(index.snapshot().cards) == 5
    block(tmp_path / "index" / name)
    index.apply(ChangeSet(put=(record("new.md", "something new"),)))
    assert "new.md" in {card.id for card in index.snapshot().cards}
    index.close()
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=CARDS))
    assert index.verify() == []
    index.close()


def test_a_link_to_nowhere_in_the_place_of_damaged_files_is_no_obstacle(index: LocalIndex, tmp_path: Path) -> None:
    index.close()
    (tmp_path / "index" / "damaged").symlink_to("nowhere/at/all")
    (tmp_path / "index" / "catalog.sqlite").write_text("this is no index\n" * 500)
    index = LocalIndex(tmp_path / "index")
    assert "damaged/1" in index.snapshot().stats.notes[-1]
    index.close()


def test_a_change_with_the_number_of_one_that_was_lost_is_seen(index: LocalIndex, tmp_path: Path) -> None:
    folder, copy = tmp_path / "index", tmp_path / "copy"
    index.close()
    shutil.copytree(folder, copy)
    index, other = LocalIndex(folder), LocalIndex(folder)
    index.apply(ChangeSet(put=(record("lost.md", "something that is lost"),)))
    assert "lost.md" in {card.id for card in other.snapshot().cards}
    number = index.snapshot().stats.sequence
    with (
        closing(sqlite3.connect(copy / "catalog.sqlite")) as older,
        closing(sqlite3.connect(folder / "catalog.sqlite")) as newer,
    ):
        older.backup(newer)
    assert index.apply(ChangeSet(put=(record("new.md", "something that is new"),))) == number
    assert {card.id for card in other.snapshot().cards} == {f"{place}.md" for place in range(5)} | {"new.md"}
    assert len(other.snapshot().keyword(terms("new"), ALL, 3).chunks) == 2  # its title and its text
    index.close()
    other.close()


def test_an_older_copy_that_is_copied_over_an_index_in_use_is_followed(index: LocalIndex, tmp_path: Path) -> None:
    folder, copy = tmp_path / "index", tmp_path / "copy"
    shutil.copytree(folder, copy)  # with its log: as whoever backs it up meanwhile
    index.apply(ChangeSet(put=(record("new.md", "something new"),), remove=("1.md",)))
    assert "new.md" in {card.id for card in index.snapshot().cards}
    shutil.copytree(copy, folder, dirs_exist_ok=True)
    assert [card.id for card in index.snapshot().cards] == ["0.md", "1.md", "2.md", "3.md", "4.md"]
    index.apply(ChangeSet(put=(record("newer.md", "something newer"),)))
    index.repair(lambda done, total: None)
    found = index.snapshot().keyword(terms("newer"), ALL, 3).chunks.tolist()
    assert {chunk.card for chunk in index.snapshot().chunks(found)} == {"newer.md"}
    assert index.verify() == []
    index.close()


def test_another_index_that_is_copied_over_one_in_use_is_followed(index: LocalIndex, tmp_path: Path) -> None:
    other = LocalIndex(tmp_path / "other")
    for number in range(9):  # more changes than the first one had
        other.apply(ChangeSet(put=(record(f"other-{number}.md", "of another vault"),)))
    assert len(index.snapshot().cards) == 5
    shutil.copytree(tmp_path / "other", tmp_path / "index", dirs_exist_ok=True)
    assert len(index.snapshot().cards) == 9
    assert all(card.id.startswith("other-") for card in index.snapshot().cards)
    other.close()
    index.close()


_IN_USE = """
import os, sys
from pathlib import Path
from cogvault.indexes import LocalIndex
from cogvault.testing.records import record
from cogvault.types import ChangeSet
from tests.indexes.test_damage_in_use import CARDS

folder, pattern, length, use = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
index = LocalIndex(folder)
index.apply(ChangeSet(put=CARDS))
index.apply(ChangeSet(put=CARDS[:2]))
assert index.verify() == []
files = list(folder.glob(pattern))
assert files
for path in files:
    os.truncate(path, length)
if use == "verify":
    index.verify()
elif use == "apply":
    index.apply(ChangeSet(put=(record("new.md", "something new"),), remove=("3.md",)))
elif use == "follow":
    other = LocalIndex(folder)
    other.apply(ChangeSet(put=(record("new.md", "something new"),), remove=("3.md",)))
    other.close()
else:
    assert len(index.snapshot().cards) == 6
index.repair(lambda done, total: None)
index.apply(ChangeSet(put=CARDS))
assert index.verify() == []
index.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cuts off no file that is mapped")
@pytest.mark.parametrize("use", ["verify", "apply", "follow", "look"])
@pytest.mark.parametrize(
    ("pattern", "length"),
    [("keyword-*/*.[tifp]*", 0), ("catalog.sqlite-shm", 0), ("catalog.sqlite-shm", 5000)],
)
def test_a_mapped_file_that_is_cut_off_ends_no_process(tmp_path: Path, pattern: str, length: int, use: str) -> None:
    command = [sys.executable, "-c", _IN_USE, str(tmp_path / "index"), pattern, str(length), use]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
