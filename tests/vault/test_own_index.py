"""A vault that is given an index object says nothing of the index that all others of its folder share."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cogvault.errors import VaultError
from cogvault.indexes import MemoryIndex
from cogvault.indexing.report import SyncProgress
from tests.vault.conftest import Shelf, ids

_SYNC = """
import sys
from pathlib import Path
from cogvault import Config, Vault
from cogvault.indexes import MemoryIndex
places = {"index_dir": Path(sys.argv[2]), "cache_dir": Path(sys.argv[3])}
settings = Config(model="none", recursive=True, threads=1, **places)
with Vault(sys.argv[1], settings, index=MemoryIndex()) as vault:
    vault.sync()
"""


def sync_elsewhere(shelf: Shelf) -> None:
    """Sync an index of its own in another process."""
    places = [str(place) for place in (shelf.root, shelf.indexes, shelf.caches)]
    subprocess.run([sys.executable, "-c", _SYNC, *places], check=True)


@pytest.mark.parametrize("has_own", [False, True])
def test_its_looks_are_none_at_the_index_of_others(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, has_own: bool
) -> None:
    now = 100.0
    monkeypatch.setattr("cogvault.engine.time.monotonic", lambda: now)
    shelf.write("a.md", "wombat\n")
    vault = shelf.open(refresh_seconds=3600, **({"index": MemoryIndex()} if has_own else {}))
    for number in range(5):  # so that the other index seems to be the older one
        shelf.write("a.md", f"wombat {number}\n")
        vault.sync()
    vault.search("wombat")
    shelf.write("b.md", "wombat\n")
    sync_elsewhere(shelf)
    now += 3000
    assert ids(vault.search("wombat")) == ["a.md"]
    now += 3000
    assert sorted(ids(vault.search("wombat"))) == ["a.md", "b.md"]


def test_its_unfinished_sync_leaves_the_index_of_others_complete(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    vault = shelf.open(refresh_seconds=3600)
    vault.search("wombat")
    before = vault.status()

    def stop(progress: SyncProgress) -> None:
        if progress.stage != "scan":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shelf.open(index=MemoryIndex()).sync(progress=stop)
    assert vault.status() == before


def test_it_may_see_an_empty_folder_that_others_refuse(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    with shelf.open() as vault:
        vault.sync()
    shelf.root.rename(shelf.root.with_name("unmounted"))
    shelf.root.mkdir()
    own = shelf.open(index=MemoryIndex())
    assert own.sync().unchanged == 0
    with pytest.raises(VaultError, match="none of the 1 cards is there"):
        shelf.open().sync()


def test_what_it_could_not_index_is_a_problem_of_its_own(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    vault = shelf.open(refresh_seconds=3600)
    vault.sync()
    own = shelf.open(index=MemoryIndex(), use_gitignore=True)
    (shelf.root / ".gitignore").mkdir()
    own.sync()
    assert [problem.code for problem in own.status().problems] == ["unreadable"]
    assert vault.status().problems == ()
