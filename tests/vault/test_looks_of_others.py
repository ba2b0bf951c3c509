"""A search that is due to look at all files relies on another process that did so within ``refresh_seconds``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from cogvault import Vault
from cogvault.embedders import HashingEmbedder
from cogvault.indexing.scan import ScanResult, scan
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids

_LATER = 10_000.0
_SYNC = """
import json, sys
from pathlib import Path
from cogvault import Config, Vault
from cogvault.cards import MarkdownCardParser
settings = json.loads(sys.argv[2])
failing, parse = settings.pop("failing", ""), MarkdownCardParser.parse
def parsed(parser, data, *, id, path):
    if id == failing:
        raise RuntimeError("a defect")
    return parse(parser, data, id=id, path=path)
MarkdownCardParser.parse = parsed
settings = {**settings, **{key: Path(settings[key]) for key in ("index_dir", "cache_dir")}}
with Vault(sys.argv[1], Config(**settings)) as vault:
    vault.sync()
"""


def sync_elsewhere(shelf: Shelf, **settings: Any) -> None:
    """Sync in another process."""
    usual = {"model": "none", "recursive": True, "threads": 1}
    places = {"index_dir": str(shelf.indexes), "cache_dir": str(shelf.caches)}
    text = json.dumps({**usual, **places, **settings})
    subprocess.run([sys.executable, "-c", _SYNC, str(shelf.root), text], check=True)


class Clock:
    """Says when the next look is due."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def pause(self) -> None:
        """Longer than any look is good for, in which nobody asks."""
        self.now += _LATER

    def go_on(self, vault: Vault, refresh_seconds: float = _LATER / 2) -> None:
        """Until the next look is due, but never so long without a question."""
        self.now += refresh_seconds * 0.8
        vault.search("nothing")
        self.now += refresh_seconds * 0.8


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("cogvault.engine.time.monotonic", clock)
    return clock


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many looks at all files this process began since it was last asked."""
    began: list[None] = []

    def counted(root: Path, options: Any, paths: Any, *others: Any) -> ScanResult:
        began.extend([None] * (paths is None))
        return scan(root, options, paths, *others)

    def count() -> int:
        number = len(began)
        began.clear()
        return number

    monkeypatch.setattr("cogvault.indexing.sync.scan", counted)
    return count


def opened(shelf: Shelf, **arguments: Any) -> Vault:
    """A vault that has looked once, and whose looks are good for longer than a test takes."""
    vault = shelf.open(refresh_seconds=_LATER / 2, **arguments)
    vault.search("wombat")
    return vault


def test_what_another_process_looked_at_is_not_looked_at_again(
    shelf: Shelf, clock: Clock, looks: Callable[[], int]
) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    assert looks() == 1
    shelf.write("b.md", "wombat\n")
    sync_elsewhere(shelf)
    clock.go_on(vault)
    assert (ids(vault.search("wombat")), looks()) == (["a.md", "b.md"], 0)
    assert vault.status().status is Status.OK


def test_an_own_look_is_no_look_of_another(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    shelf.write("b.md", "wombat\n")
    clock.go_on(vault)
    assert (ids(vault.search("wombat")), looks()) == (["a.md", "b.md"], 2)


def test_who_opens_a_vault_looks(shelf: Shelf, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    sync_elsewhere(shelf)
    shelf.write("b.md", "wombat\n")
    assert ids(opened(shelf).search("wombat")) == ["a.md", "b.md"]
    assert looks() == 1


def test_who_comes_back_after_a_pause_looks(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    clock.pause()
    sync_elsewhere(shelf)
    shelf.write("b.md", "wombat\n")
    assert (ids(vault.search("wombat")), looks()) == (["a.md", "b.md"], 2)


def test_a_look_that_is_too_old_is_not_relied_on(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    vault = shelf.open(refresh_seconds=0.001)
    vault.search("wombat")
    sync_elsewhere(shelf)
    shelf.write("b.md", "wombat\n")
    clock.go_on(vault, 0.001)
    assert (ids(vault.search("wombat")), looks()) == (["a.md", "b.md"], 2)


@pytest.mark.parametrize("settings", [{"recursive": False}, {"ignore": ["draft*"]}, {"use_gitignore": True}])
def test_a_look_at_other_files_is_not_relied_on(
    shelf: Shelf, clock: Clock, looks: Callable[[], int], settings: dict[str, Any]
) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.write("sub/draft.md", "wombat\n")
    vault = opened(shelf)
    sync_elsewhere(shelf, **settings)
    clock.go_on(vault)
    assert (ids(vault.search("wombat")), looks()) == (["a.md", "sub/draft.md"], 2)


def test_a_look_at_some_files_is_none_at_all_files(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    file = Path(vault.status().index) / "last-look"
    before = file.read_bytes()
    vault.record("quokka")
    assert ids(vault.search("quokka"))
    assert file.read_bytes() == before


def test_what_the_other_could_not_index_is_told(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.write("b.md", "wombat\n")
    vault = opened(shelf)
    assert vault.status().status is Status.OK
    shelf.write("b.md", "quokka and more\n")
    sync_elsewhere(shelf, failing="b.md")
    clock.go_on(vault)
    looks()
    vault.search("wombat")
    status = vault.status()
    assert (status.status, looks()) == (Status.DEGRADED, 0)
    assert [problem.path for problem in status.problems] == ["b.md"]
    sync_elsewhere(shelf)
    clock.go_on(vault)
    assert (ids(vault.search("quokka")), vault.status().status, looks()) == (["b.md"], Status.OK, 0)


def test_an_answer_is_stale_until_somebody_has_looked(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    shelf.write("b.md", "wombat\n")
    clock.go_on(vault)
    with FileLock(Path(vault.status().index) / "sync.lock"):
        assert vault.search("wombat").status is Status.STALE
    sync_elsewhere(shelf)
    clock.go_on(vault)
    looks()
    hits = vault.search("wombat")
    assert (ids(hits), hits.status, looks()) == (["a.md", "b.md"], Status.OK, 0)


def test_chunks_that_the_other_has_no_model_for_are_embedded(
    shelf: Shelf, clock: Clock, looks: Callable[[], int]
) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf, embedder=HashingEmbedder(32))
    shelf.write("b.md", "quokka\n")
    sync_elsewhere(shelf)
    clock.go_on(vault)
    looks()
    hits = vault.search("quokka")
    assert (hits[0].id, hits.status, looks()) == ("b.md", Status.OK, 0)
    assert vault.status().pending == 0


def test_chunks_that_the_other_has_another_model_for_are_embedded(
    shelf: Shelf, clock: Clock, looks: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}.md", f"wombat {name}\n")
    shelf.open(embedder=HashingEmbedder(32, seed=1)).sync()
    monkeypatch.setattr("cogvault.engine.SEARCH_EMBEDS", 1)
    vault = opened(shelf, embedder=HashingEmbedder(32, seed=2))
    hits, status = vault.search("wombat"), vault.status()
    assert (hits.status, status.status, status.reason) == (Status.DEGRADED, Status.DEGRADED, hits.reason)
    sync_elsewhere(shelf)
    looks()
    for _ in range(3):
        clock.go_on(vault)
        hits = vault.search("wombat")
    assert (hits.status, vault.status().status, looks()) == (Status.OK, Status.OK, 0)


def test_what_this_process_wrote_is_found_all_the_same(shelf: Shelf, clock: Clock, looks: Callable[[], int]) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    sync_elsewhere(shelf)
    clock.go_on(vault)
    looks()
    new = vault.record("a marsupial that digs").id
    hits = vault.search("marsupial digs")
    assert (ids(hits), looks()) == ([new], 0)


def test_a_vault_that_is_away_is_noticed(shelf: Shelf, clock: Clock) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    sync_elsewhere(shelf)
    clock.go_on(vault)
    shelf.root.rename(shelf.root.with_name("away"))
    hits = vault.search("wombat")
    assert (ids(hits), hits.status) == (["a.md"], Status.STALE)


def test_an_index_that_was_made_anew_since_is_filled(shelf: Shelf, clock: Clock) -> None:
    shelf.write("a.md", "wombat\n")
    vault = opened(shelf)
    sync_elsewhere(shelf)
    clock.go_on(vault)
    for file in Path(vault.status().index).glob("catalog.sqlite*"):
        file.unlink()
    vault.search("wombat")
    vault.sync()
    assert ids(vault.search("wombat")) == ["a.md"]
