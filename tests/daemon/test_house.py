"""What the daemon does by itself: watching, sweeps, letting go of models; and whose settings it works with."""

from __future__ import annotations

import gc
import os
import time
import weakref
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.client import Endpoint, connect
from cogvault.errors import ConfigError, DaemonError, VaultError
from cogvault_cli.daemon.house import House
from tests.daemon.conftest import Ask, wait_until, write_cards
from tests.rankers.tiny_cross_encoder import make_cross_encoder


def test_vaults_are_watched(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    vault = ask(folder, endpoint=endpoint)
    (folder / "new.md").write_text("The printer is called Gutenberg.\n")
    wait_until(lambda: len(vault.search("printer Gutenberg", sync=False)), "the new card is found without a look")


def test_a_folder_that_is_away_is_an_error_and_works_when_it_is_back(
    endpoint: Endpoint, folder: Path, ask: Ask
) -> None:
    vault = ask(folder, endpoint=endpoint)
    folder.rename(folder.with_name("away"))
    with pytest.raises(VaultError, match="no such folder"):
        vault.search("Redis")
    folder.with_name("away").rename(folder)
    assert len(vault.search("Redis table"))


def test_sweeps_run_as_the_vault_says(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    (folder / "note_old.md").write_text("---\ncreated: 2001-01-01\nimportance: 0\n---\n\nNobody needs this.\n")
    os.utime(folder / "note_old.md", (10**9, 10**9))
    (folder / ".cogvault.toml").write_text("forgetting_enabled = true\n")
    vault = ask(folder, endpoint=endpoint)
    wait_until(lambda: [one.id for one in vault.archived()] == ["note_old.md"], "the weak card is archived")


@pytest.mark.parametrize("settings", [{"half_life_days": 3.0}, {"ignore": ["x/"]}, {"model": "hashing"}])
def test_other_settings_are_refused(endpoint: Endpoint, folder: Path, settings: dict[str, object]) -> None:
    with pytest.raises(DaemonError, match=f"other settings: {next(iter(settings))}"):
        connect(folder, settings, endpoint=endpoint)


def test_the_same_settings_are_not(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    assert ask(folder, settings={"model": "none", "threads": 1, "tenant": str(folder)}, endpoint=endpoint)


def test_variables_of_the_asker_are_compared(endpoint: Endpoint, folder: Path, environment: Mapping[str, str]) -> None:
    with pytest.raises(DaemonError, match="other settings: min_score"):
        connect(folder, endpoint=endpoint, environment={**environment, "COGVAULT_MIN_SCORE": "0.9"})
    with pytest.raises(ConfigError, match="MIN_SCORE"):
        connect(folder, endpoint=endpoint, environment={**environment, "COGVAULT_MIN_SCORE": "many"})


def test_a_vault_whose_own_settings_changed_is_opened_anew(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    ask(folder, endpoint=endpoint).search("Redis")
    (folder / ".cogvault.toml").write_text("half_life_days = 7\n")
    assert ask(folder, endpoint=endpoint).cards()
    assert ask(folder, settings={"half_life_days": 7.0}, endpoint=endpoint)


def test_another_version_is_refused(endpoint: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.client.remote.__version__", "99.0.0")
    with pytest.raises(DaemonError, match=r"the daemon is cogvault .*, this is 99.0.0"):
        connect(folder, endpoint=endpoint)


def test_idle_models_are_let_go_and_come_back(
    environment: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGVAULT_MODEL", "bundled")
    now = [1000.0]
    with House(idle_seconds=600) as house, house.vault(str(folder)) as vault:
        vault.sync()
        vault.search("how are jobs queued")
        assert house.models() == ("bundled",)
        assert house.release_idle() == ()
        real = time.monotonic
        monkeypatch.setattr("cogvault.embedders.cached.time.monotonic", lambda: real() + now[0])
        assert house.release_idle() == ("bundled",)
        assert house.models() == ()
        assert vault.search("how are jobs queued").status == "ok"
        assert house.models() == ("bundled",)


def test_memory_that_was_freed_goes_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr("cogvault.registry.give_back", lambda: given.append("back"))
    assert house.release_idle() == ()
    assert given == ["back"]


def test_the_reranker_works_through_it(
    endpoint: Endpoint, folder: Path, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_cross_encoder(tmp_path / "model", ["redis", "table"])
    monkeypatch.setenv("COGVAULT_RERANK_MODEL", str(model))
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Redis table {number}\n\nIt is a table of Redis.\n")
    hits = ask(folder, endpoint=endpoint).search("which table holds Redis", explain=True, min_score=0.0)
    assert any(part.name == "rerank" for hit in hits for part in hit.parts), hits.reason


def test_a_vault_that_cannot_be_watched_is_closed(house: House, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Vault] = []
    close = Vault.close

    def note(self: Vault) -> None:
        closed.append(self)
        close(self)

    def fail(self: Vault) -> None:
        raise VaultError("cannot be watched")

    monkeypatch.setattr(Vault, "close", note)
    monkeypatch.setattr(Vault, "watch", fail)
    with pytest.raises(VaultError, match="cannot be watched"), house.vault(str(folder)):
        pass
    assert len(closed) == 1
    assert house.folders() == ()


def test_two_names_of_a_folder_are_one_vault(house: House, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    with house.vault(str(folder)) as one, house.vault(str(tmp_path / "link")) as other:
        assert one is other


def test_any_folder_can_be_named(endpoint: Endpoint, tmp_path: Path, ask: Ask) -> None:
    for name in ("one", "two"):
        assert ask(write_cards(tmp_path / name), endpoint=endpoint).search("Redis table")


@pytest.mark.usefixtures("environment")
def test_what_open_vaults_keep_is_no_garbage_and_what_closed_ones_leave_is(tmp_path: Path) -> None:
    """Python's collections leave out what is frozen, cycles of a closed vault too."""
    folders = [write_cards(tmp_path / name) for name in ("one", "other")]
    assert not gc.get_freeze_count()
    with House(max_open=1) as house:
        left = []
        for folder in folders:
            with house.vault(str(folder)) as vault:
                vault.search("Redis")
                left.append(weakref.ref(vault))
                del vault
            house.settle()
            assert gc.get_freeze_count()
        assert left[0]() is None
        assert left[1]() is not None
    assert not gc.get_freeze_count()
