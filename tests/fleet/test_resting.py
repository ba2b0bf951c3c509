"""Vaults of a fleet that are not in use hold little, and answer as if they did."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault import Config, Fleet, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.indexes import LocalIndex
from cogvault.indexes.local import index as local

KEYWORD = Config(model="none", refresh_seconds=0, threads=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Fleet(tmp_path, KEYWORD) as fleet:
        for number, color in enumerate(("blue", "green", "red", "white", "black")):
            fleet.create(f"t{number}")
            with fleet.vault(f"t{number}") as vault:
                vault.record(f"The staging server is {color}. See [[Rules]].", title=f"Server of t{number}")
                vault.record(f"All {color} things are kept in the cellar.", title="Rules", tags=["house"])
    return tmp_path


def _mapped(root: Path) -> set[str]:
    """Tenants whose index this process maps into memory."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {folder for line in lines if "keyword-" in line for folder in _names(root) if f"/{folder}-" in line}


def _names(root: Path) -> list[str]:
    return [folder.name for folder in (root / "tenants").iterdir()]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_all_stay_open_and_those_used_last_keep_what_they_read(root: Path) -> None:
    with Fleet(root, KEYWORD, max_awake=2) as fleet:
        for tenant in fleet.tenants():
            with fleet.vault(tenant) as vault:
                vault.search("staging server")
        assert [folder.name for folder in fleet.folders()] == ["t0", "t1", "t2", "t3", "t4"]
        assert _mapped(root) == {"t3", "t4"}
        with fleet.vault("t1") as vault:
            vault.search("staging server")
        assert _mapped(root) == {"t1", "t4"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_vault_that_rests_holds_no_file(root: Path) -> None:
    with Vault(root / "tenants" / "t1", KEYWORD) as vault:
        before = _open_files()
        vault.search("staging server")
        assert _open_files() - before
        vault.rest()
        assert not _open_files() - before


def _open_files() -> set[str]:
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(os.readlink(entry))  # noqa: PTH115 - pathlib would resolve more
        except OSError:
            continue
    return {name for name in found if name.endswith((".sqlite", "-wal", "-shm"))}


def test_a_lent_vault_never_rests(root: Path) -> None:
    with Fleet(root, KEYWORD, max_awake=1) as fleet, fleet.vault("t0") as lent:
        cards = lent.cards()
        for tenant in ("t1", "t2", "t3"):
            with fleet.vault(tenant) as vault:
                vault.search("staging server")
        assert lent.cards() is cards  # made anew, they would be others


def test_a_large_vault_keeps_what_it_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Vault(root / "tenants" / "t1", KEYWORD) as vault:
        vault.sync()
        cards = vault.cards()
        monkeypatch.setattr(local, "_RESTING_CHUNKS", 1)
        vault.rest()
        assert vault.cards() is cards
        monkeypatch.setattr(local, "_RESTING_CHUNKS", 1000)
        vault.rest()
        assert vault.cards() is not cards
        assert list(vault.cards()) == list(cards)


def test_rest_before_use_and_after_the_end_does_nothing(root: Path) -> None:
    vault = Vault(root / "tenants" / "t1", KEYWORD)
    vault.rest()
    assert vault.search("staging server")
    vault.close()
    vault.rest()


@pytest.mark.parametrize("work", ["search", "close"])
def test_a_release_waits_for_no_other_vault(root: Path, monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    begun, go_on = threading.Event(), threading.Event()
    view, close = local.View, LocalIndex.close

    def wait() -> None:
        begun.set()
        go_on.wait()

    with Fleet(root, KEYWORD, max_awake=1) as fleet, ThreadPoolExecutor(2) as pool:
        with fleet.vault("t1") as vault:
            vault.search("staging server")

        def lend_another() -> None:
            with fleet.vault("t2"):
                begun.wait()

        vault.rest()
        monkeypatch.setattr(local, "View", lambda *arguments: (wait(), view(*arguments))[1])
        monkeypatch.setattr(LocalIndex, "close", lambda index: (wait(), close(index)))
        busy = pool.submit(vault.search, "staging server") if work == "search" else pool.submit(vault.close)
        try:
            pool.submit(lend_another).result(timeout=10)
        finally:
            go_on.set()
        busy.result()


def test_changes_of_others_meanwhile_are_seen(root: Path) -> None:
    place = root / "tenants" / "t1"
    with Vault(place, KEYWORD) as vault, Vault(place, KEYWORD) as other:
        vault.search("staging server")
        vault.rest()
        written = other.record("The lighthouse was painted.", title="Lighthouse")
        other.forget(vault.search("staging server")[0].id)
        vault.rest()
        assert [hit.id for hit in vault.search("lighthuose")] == [written.id]
        assert [hit.title for hit in vault.search("staging server")] == []


def test_a_snapshot_in_use_goes_on_while_the_index_rests(root: Path) -> None:
    index = LocalIndex(root / "index")
    with Vault(root / "tenants" / "t1", KEYWORD, index=index) as vault:
        vault.sync()
        snapshot = index.snapshot()
        before = [(card.id, [stored.chunk.text for stored in snapshot.of_card(card.id)]) for card in snapshot.cards]
        vault.rest()
        vault.record("Something else.", title="Else")
        after = [(card.id, [stored.chunk.text for stored in snapshot.of_card(card.id)]) for card in snapshot.cards]
        assert before == after


def test_searches_of_many_threads_are_right_while_the_vaults_rest_all_the_time(root: Path) -> None:
    stop = threading.Event()
    with Fleet(root, KEYWORD, max_awake=1) as fleet, ThreadPoolExecutor(5) as pool:

        def disturb() -> None:
            while not stop.is_set():
                for tenant in fleet.tenants():
                    with fleet.vault(tenant) as vault:
                        vault.rest()

        def ask(tenant: str) -> list[list[str]]:
            found = []
            for _ in range(25):
                with fleet.vault(tenant) as vault:
                    found.append([hit.title for hit in vault.search("staging server", k=1)])
            return found

        disturbing = pool.submit(disturb)
        try:
            asked = {tenant: pool.submit(ask, tenant) for tenant in fleet.tenants()[:4]}
            for tenant, answers in asked.items():
                assert answers.result() == [[f"Server of {tenant}"]] * 25
        finally:
            stop.set()
        disturbing.result()


@settings(max_examples=15)
@given(
    st.lists(
        st.one_of(
            st.just(("rest", 0)),
            st.tuples(st.sampled_from(("record", "append", "forget", "search")), st.integers(0, 3)),
        ),
        min_size=3,
        max_size=10,
    )
)
def test_whatever_came_before_a_vault_answers_as_one_that_was_opened_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    base, embedder = tmp_path_factory.mktemp("resting"), HashingEmbedder(32)
    place = base / "vault"
    own = Config(refresh_seconds=0, threads=1, index_dir=base / "i", cache_dir=base / "c", state_dir=base / "s")
    place.mkdir()
    with Vault(place, own, embedder=embedder) as vault:
        for name, number in (("record", 0), ("record", 1), *steps):
            ids = [card.id for card in vault.cards()]
            if name == "rest":
                vault.rest()
            elif name == "record":
                vault.record(f"Note {len(ids)} on ship {number}. See [[Ship {number + 1}]].", title=f"Ship {number}")
            elif name == "search":
                vault.search(f"ship {number}")
            elif ids and name == "append":
                vault.update(ids[number % len(ids)], append=f"More of harbor {number}.")
            elif ids:
                vault.forget(ids[number % len(ids)])
        vault.sync()
        with Vault(place, own, embedder=embedder) as fresh:
            assert list(vault.cards()) == list(fresh.cards())
            for text in ("ship 1", "harbor 2", "note on a ship"):
                assert _told(vault, text) == _told(fresh, text)


def _told(vault: Vault, text: str) -> list[tuple[str, float, tuple[str, ...]]]:
    return [(hit.id, hit.score, hit.related) for hit in vault.search(text, min_score=0.0, k=10)]
