"""Where an index is kept when its own folder will not do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.indexes import opening
from cogvault.indexes.opening import find_place
from cogvault.types import Status
from tests.disks.conftest import SmallDisk, config, tree


def mounted(file_system: str, place: Path) -> str:
    return f"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / {place} rw - {file_system} host:/x rw\n"


def test_a_usual_folder_is_used_as_it_is_and_not_made(tmp_path: Path) -> None:
    place = find_place(tmp_path / "new" / "index")
    assert (place.folder, place.reason) == (tmp_path / "new" / "index", "")
    assert not place.folder.exists()


@pytest.mark.parametrize("file_system", ["nfs4", "cifs", "fuse.sshfs", "virtiofs"])
def test_an_index_is_not_kept_on_a_network_file_system(
    vault_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_system: str
) -> None:
    remote, local = (tmp_path / "home").resolve(), tmp_path / "local"
    remote.mkdir()
    local.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(local))
    monkeypatch.setattr(opening, "mounts_text", lambda: mounted(file_system, remote))
    sequences = set()
    for _ in range(2):
        with Vault(vault_folder, config(remote / "indexes")) as vault:
            hits, status = vault.search("number3"), vault.status()
            assert hits[0].id == "3.md"
            for told in (hits, status):
                assert told.status is Status.DEGRADED
                assert f"network file system ({file_system})" in told.reason
                assert "COGVAULT_INDEX_DIR" in told.hint
            assert vault.search("wolverine").status is Status.EMPTY
            assert Path(status.index).is_relative_to(local)
            sequences.add(status.sequence)
    assert len(sequences) == 1  # the second time, what the first one made is used
    assert list(remote.iterdir()) == []
    assert (local / f"cogvault-{os.geteuid()}").stat().st_mode & 0o777 == 0o700


def test_a_place_that_others_may_write_to_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote, local = (tmp_path / "home").resolve(), tmp_path / "local"
    foreign = local / f"cogvault-{os.geteuid()}"
    remote.mkdir()
    foreign.mkdir(parents=True)
    foreign.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(local))
    monkeypatch.setattr(opening, "mounts_text", lambda: mounted("nfs", remote))
    place = find_place(remote / "index")
    assert not place.folder.is_relative_to(foreign)
    assert "ends with this process" in place.reason
    place.close()
    assert not place.folder.exists()


@pytest.mark.parametrize("has_index", [True, False])
def test_a_disk_that_may_only_be_read_is_searched(small_disk: SmallDisk, vault_folder: Path, has_index: bool) -> None:
    folder = Path(shutil.copytree(vault_folder, small_disk.folder / "vault"))
    indexes = small_disk.folder / "indexes"
    indexes.mkdir()
    if has_index:
        with Vault(folder, config(indexes)) as vault:
            vault.sync()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk.folder)], check=True)
    _search_without_writing(folder, indexes)


@pytest.mark.parametrize("has_index", [True, False])
def test_a_vault_and_an_index_without_rights_to_write_are_searched(plain_user: Path, has_index: bool) -> None:
    folder, indexes = plain_user / "vault", plain_user / "indexes"
    folder.mkdir()
    (folder / "3.md").write_text("# Card 3\n\nnumber3 sleeps\n")
    indexes.mkdir()
    if has_index:
        with Vault(folder, config(indexes)) as vault:
            vault.sync()
    for path in sorted(plain_user.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    plain_user.chmod(0o555)
    _search_without_writing(folder, indexes)


def _search_without_writing(folder: Path, indexes: Path) -> None:
    before = tree(folder), tree(indexes)
    with Vault(folder, config(indexes)) as vault:
        assert vault.status().status is Status.DEGRADED  # also before anything is indexed
        hits, status = vault.search("number3 sleeps"), vault.status()
        assert hits[0].id == "3.md"
        for told in (hits, status):
            assert told.status is Status.DEGRADED
            assert "cannot be written" in told.reason
            assert "ends with this process" in told.reason
        assert vault.sync(verify=True).failed == ()
        assert Path(status.index).exists()
    assert not Path(status.index).exists()
    assert (tree(folder), tree(indexes)) == before


def test_an_index_folder_that_turns_out_read_only_is_not_written(
    vault_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Vault(vault_folder, config(tmp_path / "indexes")) as vault:
        vault.sync()
        sequence = vault.status().sequence
    before = tree(tmp_path / "indexes")
    refused = tmp_path / "indexes"
    real = os.access

    def access(path: Path, mode: int, **how: bool) -> bool:
        return not path.is_relative_to(refused) and real(path, mode, **how)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "supports_effective_ids", {access})
    (vault_folder / "new.md").write_text("# New\n\nbilby\n")
    with Vault(vault_folder, config(tmp_path / "indexes")) as vault:
        assert vault.search("bilby")[0].id == "new.md"
        status = vault.status()
        assert status.status is Status.DEGRADED
        assert status.sequence > sequence  # it began with the index that was there
    assert tree(tmp_path / "indexes") == before
