"""What a search reads: the index, and never the cards' files; and not more for more hits."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.recall.conftest import Open, write


class Watch:
    """Files that this process opens while it looks. A hook cannot be taken back, so it only listens when told to."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self._looks = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._looks and event == "open":
            self.opened.append(str(arguments[0]))

    @contextmanager
    def looking(self) -> Iterator[list[str]]:
        self.opened = []
        self._looks = True
        try:
            yield self.opened
        finally:
            self._looks = False


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.fixture
def herd(folder: Path) -> Path:
    for number in range(8):
        write(folder, f"{number}.md", f"# Zebra {number}\n\nThe zebra crossed the river, as {number} saw.\n\n[[3]]")
    return folder


def test_the_watch_sees_a_file_that_is_read(watch: Watch, herd: Path) -> None:
    with watch.looking() as opened:
        (herd / "3.md").read_text()
    assert opened == [str(herd / "3.md")]


def test_a_recall_of_five_opens_no_file(watch: Watch, herd: Path, open_vault: Open) -> None:
    vault = open_vault()
    vault.sync()
    vault.search("zebra river", sync=False)  # loads what a process loads once
    with watch.looking() as opened:
        hits = vault.search("zebra crossed", k=5, sync=False)
    assert len(hits) == 5
    assert opened == []


def test_hits_come_whole_from_the_index(herd: Path, open_vault: Open) -> None:
    vault = open_vault()
    vault.sync()
    before = vault.search("zebra crossed the river", k=5, sync=False)
    shutil.rmtree(herd)
    after = vault.search("zebra crossed the river", k=5, sync=False)
    assert len(after) == 5
    assert [hit.to_dict() for hit in after] == [hit.to_dict() for hit in before]
