"""What stands in the place of a file or folder of the index and is none: it is set aside, or an answer says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cogvault.types import Status
from tests.blocking import to_folder, to_link
from tests.vault.conftest import Shelf, ids

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links")

LOCKS = ["lock", "sync.lock", "vectors.lock", "write.lock", "problems.lock"]


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    for number in range(4):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat number{number} digs\n")
    with shelf.open() as vault:
        vault.sync()
    return shelf


@pytest.mark.parametrize("block", [to_folder, to_link])
@pytest.mark.parametrize("name", [*LOCKS, "last-sync", "written", "written.taken", "catalog.sqlite-wal"])
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_what_is_in_the_place_of_a_file_is_set_aside(
    library: Shelf, name: str, is_open: bool, block: Callable[[Path], None]
) -> None:
    vault = library.open(refresh_seconds=0)
    folder = Path(vault.status().index)
    if is_open:
        vault.search("wombat")
    else:
        vault.close()
    block(folder / name)
    if not is_open:
        vault = library.open(refresh_seconds=0)
    new = vault.record("a wombat that was recorded").id
    vault.sync()
    hits = vault.search("wombat recorded")
    assert (ids(hits)[0], hits.status) == (new, Status.OK)
    assert vault.status().status is Status.OK
    vault.close()
    vault = library.open()
    assert (vault.search("wombat number3").status, vault.status().status) == (Status.OK, Status.OK)


@pytest.mark.parametrize("block", [Path.touch, to_link])
def test_without_a_folder_for_the_index_answers_come_from_a_temporary_one_and_say_so(
    library: Shelf, block: Callable[[Path], None]
) -> None:
    with library.open() as vault:
        folder = Path(vault.status().index)
    shutil.rmtree(folder)
    block(folder)
    vault = library.open()
    hits = vault.search("wombat number3")
    assert (ids(hits)[0], hits.status) == ("3.md", Status.DEGRADED)
    assert f"{folder} is no folder" in hits.reason
    assert hits.hint
