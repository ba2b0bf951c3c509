"""Where an index lives: outside the vault, and never where another vault's index is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cogvault.config import Config, cache_folder, index_folder, make_private, vault_folder
from cogvault.errors import ConfigError, VaultError


def test_distinct_vaults_of_one_name_have_distinct_indexes(tmp_path: Path) -> None:
    config = Config(index_dir=tmp_path / "indexes")
    folders = {index_folder(tmp_path / owner / "memory", config) for owner in ("ana", "Ana", "bo", "ana/x")}
    assert len(folders) == 4
    assert all(folder.parent == tmp_path / "indexes" and folder.name.startswith("memory-") for folder in folders)


def test_spelling_of_a_path_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(index_dir=tmp_path / "indexes")
    (tmp_path / "memory").mkdir()
    monkeypatch.chdir(tmp_path)
    assert index_folder(Path("memory"), config) == index_folder(tmp_path / "x" / ".." / "memory", config)


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights on Windows")
def test_symlink_to_a_vault_is_the_same_vault(tmp_path: Path) -> None:
    config = Config(index_dir=tmp_path / "indexes")
    (tmp_path / "memory").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "memory")
    assert index_folder(tmp_path / "alias", config) == index_folder(tmp_path / "memory", config)


@pytest.mark.parametrize("name", ["пам'ять", "记忆", "a b%c&d", "...", "x" * 200])
def test_any_folder_name_gives_a_usable_short_name(tmp_path: Path, name: str) -> None:
    folder = index_folder(tmp_path / name, Config(index_dir=tmp_path / "indexes"))
    folder.mkdir(parents=True)
    assert len(folder.name) <= 57


def test_index_inside_the_vault_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"inside the vault.*COGVAULT_INDEX_DIR"):
        index_folder(tmp_path, Config(index_dir=tmp_path / ".index"))


def test_index_folder_follows_the_cache_folder(tmp_path: Path) -> None:
    config = Config(cache_dir=tmp_path / "cache")
    assert cache_folder(config) == tmp_path / "cache"
    assert index_folder(tmp_path / "memory", config).parent == tmp_path / "cache" / "indexes"


@pytest.mark.skipif(os.name == "nt", reason="the user cache folder of Windows is no environment variable")
def test_cache_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    assert cache_folder(Config()).is_relative_to(tmp_path)
    assert cache_folder(Config()).name == "cogvault"


@pytest.mark.skipif(os.name != "posix", reason="rights of another kind")
def test_folders_of_derived_files_are_for_their_user_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        make_private(tmp_path / "there" / "a" / "b")
        make_private(tmp_path / "there" / "a" / "b")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("there", "there/a", "there/a/b")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_file_in_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in ("file", "file/a"):
        with pytest.raises(OSError, match="file"):
            make_private(tmp_path / path)


def test_a_home_folder_of_nobody_is_an_error_that_says_so() -> None:
    with pytest.raises(VaultError, match="no such home folder"):
        vault_folder("~nobody-of-this-name/memory")
    with pytest.raises(ConfigError, match="nobody has such a home folder"):
        Config(index_dir=Path("~nobody-of-this-name/indexes"))
