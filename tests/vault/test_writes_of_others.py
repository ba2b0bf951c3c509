"""What one object or process wrote through cogvault, all others find at once, however lately they looked."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from cogvault import Vault
from cogvault.indexes import MemoryIndex
from cogvault.indexing import written as told_lines
from cogvault.indexing.report import SyncReport
from cogvault.indexing.sync import Syncer
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids

_WRITE = """
import json, sys
from pathlib import Path
from cogvault import Config, Vault
settings = json.loads(sys.argv[2])
settings = {**settings, **{key: Path(settings[key]) for key in ("index_dir", "cache_dir")}}
with Vault(sys.argv[1], Config(**settings)) as vault:
    vault.record("The numbat eats termites.", title="Numbat")
    vault.update("a.md", append="The quokka smiles.")
    vault.forget("b.md")
"""


def write_elsewhere(shelf: Shelf) -> None:
    settings: dict[str, Any] = {"model": "none", "recursive": True, "threads": 1}
    settings |= {"index_dir": str(shelf.indexes), "cache_dir": str(shelf.caches)}
    subprocess.run([sys.executable, "-c", _WRITE, str(shelf.root), json.dumps(settings)], check=True)


@pytest.fixture
def vault(shelf: Shelf) -> Vault:
    """One that looked a moment ago, and does not look again by itself."""
    shelf.write("a.md", "The wombat digs.\n")
    shelf.write("b.md", "The bilby hops.\n")
    vault = shelf.open(refresh_seconds=3600)
    assert ids(vault.search("wombat")) == ["a.md"]
    return vault


def test_another_object_finds_what_was_written(shelf: Shelf, vault: Vault) -> None:
    other = shelf.open(refresh_seconds=3600)
    other.search("wombat")
    for number, (asked, written) in enumerate([(vault, other), (other, vault)] * 2):
        word = f"zebrafinch{number}"
        card = written.record(f"Somebody saw a {word}.")
        assert ids(asked.search(word)) == [card.id]
        written.update(card.id, append=f"It was blue, said the keeper of {word}s.")
        assert ids(asked.search("blue keeper")) == [card.id]
        written.move(card.id, f"{word}.md")
        assert [found.id for found in asked.list() if word in found.id] == [f"{word}.md"]
        written.forget(f"{word}.md")
        assert asked.search(word).status is Status.EMPTY
        written.restore(f"{word}.md")
        assert ids(asked.search(word)) == [f"{word}.md"]
        written.forget(f"{word}.md", purge=True)
        assert asked.search(word).status is Status.EMPTY


def test_what_another_process_wrote_is_found(shelf: Shelf, vault: Vault) -> None:
    write_elsewhere(shelf)
    assert ids(vault.search("numbat termites")) == ["note_numbat.md"]
    assert ids(vault.search("quokka smiles")) == ["a.md"]
    assert vault.search("bilby hops").status is Status.EMPTY
    assert not told(shelf)


def test_a_turn_of_a_session_is_found_by_others(shelf: Shelf, vault: Vault) -> None:
    other = shelf.open(refresh_seconds=3600)
    other.session("s").append("Ana", "The numbat eats termites.")
    assert vault.search("numbat termites")[0].speaker == "Ana"


def test_nobody_is_told_for_longer_than_nobody_has_seen_it(shelf: Shelf, vault: Vault) -> None:
    vault.record("The numbat eats termites.")
    assert told(shelf)
    vault.search("numbat")
    assert not told(shelf), "a search saw it"
    vault.record("The otter swims.")
    vault.sync()
    assert not told(shelf), "a sync saw it"
    vault.update("a.md", append="More.")
    shelf.open(refresh_seconds=0).search("more")
    assert not told(shelf), "another one saw it"


def test_what_was_seen_before_it_was_told_is_told_no_longer_than_needed(shelf: Shelf, vault: Vault) -> None:
    [folder] = [path.parent for path in shelf.indexes.rglob("catalog.sqlite")]
    (folder / "written").write_text('["x", "y", "a.md", "../../outside.md", "gone.md"]\n')
    assert ids(vault.search("wombat")) == ["a.md"]
    assert not told(shelf)


def test_an_object_with_another_index_takes_nothing_away_and_tells_what_it_wrote(shelf: Shelf, vault: Vault) -> None:
    apart = shelf.open(refresh_seconds=3600, index=MemoryIndex())
    assert ids(apart.search("wombat")) == ["a.md"]
    card = vault.record("The numbat eats termites.")
    apart.search("numbat")
    apart.sync()
    other = shelf.open(refresh_seconds=3600)
    assert told(shelf)
    assert ids(vault.search("numbat termites")) == ids(apart.search("numbat termites")) == [card.id]
    other.search("numbat")
    card = apart.record("The otter swims.")
    assert ids(apart.search("otter swims")) == [card.id]
    assert ids(vault.search("otter swims")) == ids(other.search("otter swims")) == [card.id]


def test_after_very_much_was_written_others_look_everywhere_once(
    shelf: Shelf, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told_lines, "_LARGEST_BYTES", 200)
    other = shelf.open(refresh_seconds=3600)
    cards = [other.record(f"The numbat met zebrafinch{number}.") for number in range(5)]
    assert '"."' in told(shelf)[0].read_text()
    assert [ids(vault.search(f"zebrafinch{number}"))[0] for number in range(5)] == [card.id for card in cards]
    assert not told(shelf)


@pytest.mark.parametrize("refresh_seconds", [0, 3600])
def test_what_was_written_is_found_though_another_sync_is_at_work(shelf: Shelf, refresh_seconds: int) -> None:
    vault = shelf.open(refresh_seconds=refresh_seconds)
    vault.search("wombat")
    lock = FileLock(Path(vault.status().index) / "sync.lock", thread_local=False)
    lock.acquire()
    card = vault.record("The numbat eats termites.")
    ending = threading.Timer(0.3, lock.release)
    ending.start()
    hits = vault.search("numbat termites")
    ending.join()
    assert (ids(hits), hits.status) == ([card.id], Status.OK)


def test_another_sync_that_does_not_end_is_waited_for_once(shelf: Shelf, vault: Vault, waits: list[float]) -> None:
    lock = FileLock(Path(vault.status().index) / "sync.lock")
    vault.record("The numbat eats termites.")
    with lock:
        assert [vault.search("numbat").status for _ in range(3)] == [Status.STALE] * 3
        vault.record("The otter swims.")
        assert vault.search("otter").status is Status.STALE
    assert waits == [0.2, 0.01, 0.01, 0.2]
    assert ids(vault.search("otter swims"))
    vault.record("The quokka smiles.")
    vault.search("quokka")
    assert waits[4:] == [0.01, 0.2]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each search waited at most, where a new path is waited for 0.2 s."""
    monkeypatch.setattr("cogvault.engine.FIRST_LOOK_SECONDS", 0.2)
    monkeypatch.setattr("cogvault.engine.SEARCH_WAIT_SECONDS", 0.01)
    waited: list[float] = []
    usual = Syncer.sync

    def sync(self: Syncer, **arguments: Any) -> SyncReport:
        waited.append(arguments["timeout_seconds"])
        return usual(self, **arguments)

    monkeypatch.setattr(Syncer, "sync", sync)
    return waited


def told(shelf: Shelf) -> list[Path]:
    return list(shelf.indexes.rglob("written"))
