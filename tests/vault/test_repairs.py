"""While a damaged index is made anew nobody waits for it: searches answer from what is left, and say so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogvault import Vault, engine
from cogvault.embedders import HashingEmbedder
from cogvault.errors import IndexFault
from cogvault.indexes import LocalIndex
from cogvault.indexing import beside
from cogvault.indexing.report import SyncProgress
from cogvault.types import ChangeSet, Status
from tests.settling import settle
from tests.vault.conftest import Shelf, ids

Repair = Callable[[LocalIndex, Callable[[int, int], None]], None]


class Gate:
    """Holds up who comes to it until it is opened, and counts them."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        self.reached.set()
        assert self.opened.wait(60)


@pytest.fixture
def library(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setattr(engine, "FIRST_LOOK_SECONDS", 0.0)
    for number in range(12):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat number{number} digs\n")
    settle(shelf.root)
    with shelf.open(embedder=HashingEmbedder(32)) as vault:
        vault.sync()
    return shelf


def damage_keyword(vault: Vault) -> None:
    for path in Path(vault.status().index).glob("keyword-*/*.term"):
        path.unlink()  # not cut off in place: it is mapped, and reading a mapping beyond its file's end ends a process
        path.write_bytes(b"nothing")


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch, name: str, act: Repair) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(LocalIndex, name, act)
        yield


def ended() -> None:
    """Wait for repairs."""
    for thread in threading.enumerate():
        if thread.name == "cogvault-repair":
            thread.join(60)


def test_searches_beside_a_repair_of_the_keyword_part_answer_and_say_so(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_keyword(library.open())
    vault = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    gate, repair = Gate(), LocalIndex.repair

    def slow(index: LocalIndex, progress: Callable[[int, int], None]) -> None:
        gate()
        repair(index, progress)

    with held(monkeypatch, "repair", slow):
        for number in (3, 7, 8):
            hits = vault.search(f"wombat number{number}")
            assert (ids(hits)[0], hits.status) == (f"{number}.md", Status.DEGRADED)
            assert "keyword index is damaged" in hits.reason
            assert hits.hint
        status = vault.status()
        assert (status.status, "keyword index is damaged" in status.reason) == (Status.DEGRADED, True)
        assert gate.reached.wait(60)
        gate.opened.set()
        ended()
    assert gate.count == 1
    hits = vault.search("wombat number3")
    assert (ids(hits)[0], hits.status, hits.reason) == ("3.md", Status.OK, "")
    assert "was built anew" in vault.status().notes[-1]


def test_what_is_written_beside_a_repair_makes_answers_stale_until_it_is_done(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    vault.search("wombat")
    library.write("7.md", "# Card 7\n\nwombat number7 sleeps\n")
    damage_keyword(vault)
    vault.search("wombat", sync=False)  # finds the damage
    vault.close()
    gate, repair = Gate(), LocalIndex.repair

    def slow(index: LocalIndex, progress: Callable[[int, int], None]) -> None:
        gate()
        repair(index, progress)

    other = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    with held(monkeypatch, "repair", slow):
        hits = other.search("wombat sleeps")
        assert (hits.status, "sleeps" in hits[0].text) == (Status.STALE, False)
        assert "until the damaged keyword index is made anew" in hits.reason
        library.write("7.md", "# Card 7\n\nwombat number7 digs\n")
        settle(library.root)
        new = other.record("a wombat that was recorded").id
        hits = other.search("wombat recorded")
        assert (hits.status, new in ids(hits)) == (Status.STALE, False)
        gate.opened.set()
        ended()
    hits = other.search("a wombat that was recorded")
    assert (ids(hits)[0], hits.status) == (new, Status.OK)


def test_a_damaged_catalog_is_filled_beside_searches_which_are_stale_meanwhile(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Path(library.open().status().index) / "catalog.sqlite"
    catalog.unlink()
    catalog.write_text("this is no index\n" * 200)
    vault = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    gate, apply = Gate(), LocalIndex.apply

    def slow(index: LocalIndex, change: ChangeSet) -> int:
        if change.put:
            gate()
        return apply(index, change)

    with held(monkeypatch, "apply", slow):  # type: ignore[arg-type]
        for _ in range(3):
            hits = vault.search("wombat number7")
            assert (hits.status, bool(hits.reason), bool(hits.hint)) == (Status.STALE, True, True)
        assert vault.status().status is Status.STALE
        assert gate.reached.wait(60)
        gate.opened.set()
        ended()
    hits = vault.search("wombat number7")
    assert (ids(hits)[0], hits.status) == ("7.md", Status.OK)


@pytest.mark.parametrize("use", [lambda vault: vault.search("wombat"), lambda vault: vault.record("a wombat")])
def test_closing_does_not_wait_for_a_repair_and_the_next_process_makes_it(
    library: Shelf, monkeypatch: pytest.MonkeyPatch, use: Callable[[Vault], object]
) -> None:
    damage_keyword(library.open())
    vault = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    reached = threading.Event()

    def endless(index: LocalIndex, progress: Callable[[int, int], None]) -> None:
        while True:
            progress(0, 1)
            reached.set()

    with held(monkeypatch, "repair", endless):
        use(vault)
        assert reached.wait(60)
        vault.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "cogvault-repair"]
    other = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    other.sync()
    assert other.search("wombat number3").status is Status.OK


def test_a_repair_that_fails_is_said_and_not_tried_by_each_search(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_keyword(library.open())
    vault = library.open(embedder=HashingEmbedder(32), refresh_seconds=0)
    monkeypatch.setattr(beside, "_PAUSE_SECONDS", 3600.0)
    tried = []

    def full(index: LocalIndex, progress: Callable[[int, int], None]) -> None:
        tried.append(1)
        raise IndexFault("the disk is full")

    with held(monkeypatch, "repair", full):
        for _ in range(4):
            hits = vault.search("wombat number7")
            ended()
            assert (ids(hits)[0], hits.status) == ("7.md", Status.DEGRADED)
    assert len(tried) == 1
    vault.sync()
    assert vault.search("wombat number7").status is Status.OK


def test_cards_are_all_told_when_a_first_sync_was_killed_and_one_card_written(shelf: Shelf) -> None:
    for number in range(1100):
        shelf.write(f"{number}.md", f"wombat number{number}\n")

    def killed(told: SyncProgress) -> None:
        if told.stage == "keyword" and told.done > 500:
            raise KeyboardInterrupt

    with shelf.open() as vault, pytest.raises(KeyboardInterrupt):
        vault.sync(progress=killed)
    vault = shelf.open(refresh_seconds=3600)
    vault.session("talk").append(speaker="Ana", text="hello there")
    assert len(vault.cards()) == 1101
    assert vault.status().status is Status.OK


def test_a_watcher_repairs_with_its_next_sync(library: Shelf) -> None:
    damage_keyword(library.open())
    vault = library.open(embedder=HashingEmbedder(32))
    with vault.watch() as watcher:
        assert watcher.wait(60)
        assert vault.search("wombat number7").status is Status.OK
        assert vault.status().notes
