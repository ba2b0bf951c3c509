"""Many vaults in one process."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault import Config, Fleet, Vault
from cogvault.errors import CogvaultError, PathError, QueryError, VaultError
from cogvault.fleet import TENANTS
from cogvault.registry import ModelPool
from cogvault.types import Status, worst

KEYWORD = Config(model="none")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for tenant, text in (("ana", "The staging server is blue."), ("bo", "The staging server is green.")):
        folder = tmp_path / TENANTS / tenant
        folder.mkdir(parents=True)
        (folder / "server.md").write_text(f"# Server of {tenant}\n\n{text}\n")
    return tmp_path


def test_a_tenant_is_opened_by_its_id_and_finds_its_own(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet, fleet.vault("ana") as vault:
        assert [hit.title for hit in vault.search("staging server")] == ["Server of ana"]


def test_a_vault_is_opened_by_its_folder_without_a_root(root: Path) -> None:
    with Fleet(config=KEYWORD) as fleet, fleet.vault(root / TENANTS / "bo") as vault:
        assert [card.title for card in _synced(vault).cards()] == ["Server of bo"]


def test_an_id_and_its_folder_are_one_vault(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet, fleet.vault("ana") as by_id, fleet.vault(root / TENANTS / "ana") as by_folder:
        assert by_id is by_folder


@pytest.mark.parametrize(
    "tenant",
    ["", " ", ".", "..", "../ana", "ana/..", "/ana", "a\\b", "Ana", "ana ", "ana.", "a\0b", "con", "all*", "ána"],
)
def test_an_id_that_is_not_usable_is_refused_the_same_way(root: Path, tenant: str) -> None:
    with Fleet(root, KEYWORD) as fleet:
        with pytest.raises(PathError, match="not an id of a tenant"), fleet.vault(tenant):
            pass
        with pytest.raises(PathError, match="not an id of a tenant"):
            fleet.create(tenant)


@pytest.mark.parametrize("tenant", [None, 0, False, [], {}])
def test_a_missing_tenant_is_an_error_never_all(root: Path, tenant: object) -> None:
    with Fleet(root, KEYWORD) as fleet:
        with pytest.raises(CogvaultError), fleet.vault(tenant):  # type: ignore[arg-type]
            pass
        with pytest.raises(CogvaultError):
            fleet.search("server", [tenant])  # type: ignore[list-item]


def test_an_unknown_tenant_is_an_error_and_makes_no_folder(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        with pytest.raises(VaultError, match="no tenant 'eve'"), fleet.vault("eve"):
            pass
        assert fleet.tenants() == ("ana", "bo")


def test_a_new_tenant_is_made_and_is_empty(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        fleet.create("eve@example.com")
        with fleet.vault("eve@example.com") as vault:
            assert vault.search("server").status is Status.EMPTY
        assert fleet.tenants() == ("ana", "bo", "eve@example.com")


def test_a_link_to_another_tenant_is_no_tenant(root: Path) -> None:
    (root / TENANTS / "link").symlink_to(root / TENANTS / "ana")
    with Fleet(root, KEYWORD) as fleet:
        assert "link" not in fleet.tenants()
        with pytest.raises(VaultError, match="no tenant"), fleet.vault("link"):
            pass


def test_without_a_root_there_are_no_ids() -> None:
    with Fleet(config=KEYWORD) as fleet, pytest.raises(VaultError, match="has no root"), fleet.vault("ana"):
        pass


@given(st.text(max_size=12), st.text(max_size=12))
def test_distinct_ids_never_share_a_folder(first: str, second: str) -> None:
    fleet = Fleet.__new__(Fleet)
    fleet.root = Path("/srv")
    places = []
    for tenant in (first, second):
        try:
            places.append(fleet._place(tenant))  # noqa: SLF001 - pure, and there is no way to it without a disk
        except PathError:
            return
    assert (str(places[0]).casefold() == str(places[1]).casefold()) == (first == second)


def test_the_vault_that_was_not_used_for_longest_is_closed(root: Path) -> None:
    with Fleet(root, KEYWORD, max_open=1) as fleet:
        with fleet.vault("ana") as ana:
            _synced(ana)
        with fleet.vault("bo") as bo:
            _synced(bo)
        with pytest.raises(VaultError, match="closed"):
            ana.cards()
        with fleet.vault("ana") as again:
            assert len(again.cards()) == 1


def test_a_vault_in_use_is_not_closed_for_others(root: Path) -> None:
    with Fleet(root, KEYWORD, max_open=1) as fleet, fleet.vault("ana") as ana:
        _synced(ana)
        with fleet.vault("bo") as bo:
            _synced(bo)
        assert len(ana.cards()) == 1


def test_a_fleet_that_closes_leaves_lent_vaults_until_they_come_back(root: Path) -> None:
    fleet = Fleet(root, KEYWORD)
    with fleet.vault("ana") as ana:
        _synced(ana)
        fleet.close()
        assert len(ana.cards()) == 1
    with pytest.raises(VaultError, match="closed"):
        ana.cards()
    with pytest.raises(VaultError, match="fleet is closed"), fleet.vault("ana"):
        pass


def test_many_threads_load_a_model_once(root: Path, tmp_path: Path) -> None:
    pool = _Counting(tmp_path / "cache")
    tenants = [f"t{number}" for number in range(8)]
    with Fleet(root, Config(), models=pool) as fleet:
        for tenant in tenants:
            (fleet.create(tenant) / "note.md").write_text("# Note\n\nWords.\n")
        gate = threading.Barrier(8)

        def open_one(tenant: str) -> int:
            gate.wait()
            with fleet.vault(tenant) as vault:
                return len(vault.search("words"))

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(open_one, tenants)) == [1] * 8
    assert pool.made == ["hashing"]


def test_hits_of_several_tenants_say_whose_they_are(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        hits = fleet.search("staging server is green", ["ana", "bo"])
        assert [(item.tenant, item.hit.title) for item in hits] == [("bo", "Server of bo"), ("ana", "Server of ana")]
        assert hits.status is Status.OK
        assert [item["tenant"] for item in hits.to_dict()["hits"]] == ["bo", "ana"]  # type: ignore[union-attr,call-overload,index]


def test_only_the_named_tenants_are_searched(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        assert {item.tenant for item in fleet.search("staging server", ["ana"])} == {"ana"}


@pytest.mark.parametrize("tenants", [[], (), "ana", None])
def test_whose_vaults_are_searched_has_to_be_said(root: Path, tenants: object) -> None:
    with Fleet(root, KEYWORD) as fleet, pytest.raises(VaultError, match="no tenants were named"):
        fleet.search("server", tenants)  # type: ignore[arg-type]


def test_one_tenant_that_fails_is_named_and_the_others_answer(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        hits = fleet.search("staging server", ["ana", "eve"])
        assert [item.tenant for item in hits] == ["ana"]
        assert hits.status is Status.FAILED
        assert "no tenant 'eve'" in hits.failures["eve"]


def test_a_wrong_argument_is_an_error_also_for_several(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet, pytest.raises(QueryError):
        fleet.search("server", ["ana"], min_score=7)


def test_a_tenant_has_settings_of_its_own(root: Path) -> None:
    (root / TENANTS / "ana" / ".cogvault.toml").write_text("recursive = true\n")
    with Fleet(root, KEYWORD) as fleet, fleet.vault("ana") as ana, fleet.vault("bo") as bo:
        assert (ana.config.recursive, bo.config.recursive) == (True, False)


class _Counting(ModelPool):
    """A pool that makes hashing embedders and counts them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.made: list[str] = []

    def _uncached(self, name: str):  # type: ignore[no-untyped-def]
        from cogvault.embedders import HashingEmbedder

        self.made.append("hashing")
        return HashingEmbedder()


def _synced(vault: Vault) -> Vault:
    vault.sync()
    return vault


def test_tenant_with_a_mistake_in_its_settings_fails_alone(root: Path) -> None:
    (root / TENANTS / "bo" / ".cogvault.toml").write_text("half_life_dayz = 3\n")
    with Fleet(root, KEYWORD) as fleet:
        hits = fleet.search("staging server", ["ana", "bo"])
    assert list(hits.answers) == ["ana"]
    assert "half_life_dayz" in hits.failures["bo"]


def test_a_tenant_who_is_made_anew_has_nothing_of_the_former_one(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        with fleet.vault("ana") as vault:
            _synced(vault)
        shutil.rmtree(root / TENANTS / "ana")
        fleet.create("ana")
        with fleet.vault("ana") as vault:
            found = vault.search("staging server", min_score=0.0)
            assert (found.status, list(found), list(vault.list())) == (Status.EMPTY, [], [])
            vault.record("The staging server is red.", title="Server")
            assert [hit.title for hit in vault.search("staging server")] == ["Server"]


def test_a_tenant_is_made_anew_by_another_process_too(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet, fleet.vault("ana") as vault:
        _synced(vault)
    shutil.rmtree(root / TENANTS / "ana")
    with Fleet(root, KEYWORD) as fleet:
        fleet.create("ana")
        fleet.create("ana")
        with fleet.vault("ana") as vault:
            assert list(vault.search("staging server", min_score=0.0)) == []


def test_the_vault_of_a_deleted_tenant_can_be_closed(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        for tenant, name in (("ana", "ana"), ("bo", root / TENANTS / "bo")):
            with fleet.vault(tenant) as vault:
                _synced(vault)
            shutil.rmtree(root / TENANTS / tenant)
            fleet.release(name)
            with pytest.raises(VaultError):
                fleet.release(name)
        assert fleet.folders() == ()


def test_tenants_to_search_may_come_one_by_one(root: Path) -> None:
    with Fleet(root, KEYWORD) as fleet:
        found = fleet.search("staging server", (tenant for tenant in ("ana", "bo")))
        assert {item.tenant for item in found} == {"ana", "bo"}
        with pytest.raises(VaultError, match="no tenants were named"):
            fleet.search("staging server", iter(()))


def test_an_answer_that_may_be_wrong_is_worse_than_one_that_lacks_a_part() -> None:
    assert worst([Status.OK, Status.STALE, Status.DEGRADED, Status.EMPTY]) is Status.STALE
    assert worst([]) is Status.OK
