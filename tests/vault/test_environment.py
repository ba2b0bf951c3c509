"""Settings of the environment as a vault obeys them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault import Config, Vault
from cogvault.errors import ConfigError
from cogvault.types import Status
from tests.vault.conftest import ids


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path.resolve() / "vault"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("---\ncreated: 2020-01-01\n---\nwombat\n")
    (root / "sub" / "b.md").write_text("---\ncreated: 2026-01-01\n---\nwombat\n")
    monkeypatch.setenv("COGVAULT_MODEL", "none")
    monkeypatch.setenv("COGVAULT_INDEX_DIR", str(tmp_path / "indexes"))
    monkeypatch.setenv("COGVAULT_CACHE_DIR", str(tmp_path / "cache"))
    return root


def found(root: Path, config: Config | None = None) -> list[str]:
    with Vault(root, config) as vault:
        return ids(vault.search("wombat", min_score=0.0))


def test_the_environment_decides_what_is_indexed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(root) == ["a.md"]
    monkeypatch.setenv("COGVAULT_RECURSIVE", "true")
    assert sorted(found(root)) == ["a.md", "sub/b.md"]
    monkeypatch.setenv("COGVAULT_IGNORE", '["a*"]')
    assert found(root) == ["sub/b.md"]
    assert sorted(found(root, Config(ignore=()))) == ["a.md", "sub/b.md"]  # an argument wins


def test_the_environment_decides_how_hits_are_scored(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGVAULT_RECURSIVE", "1")
    assert found(root) == ["a.md", "sub/b.md"]
    monkeypatch.setenv("COGVAULT_HALF_LIFE_DAYS", "3000")
    assert found(root) == ["sub/b.md", "a.md"]
    (root / ".cogvault.toml").write_text("half_life_days = 100000000\n")
    assert found(root) == ["sub/b.md", "a.md"]  # the environment wins over the vault's file
    monkeypatch.delenv("COGVAULT_HALF_LIFE_DAYS")
    assert found(root) == ["a.md", "sub/b.md"]


def test_the_environment_decides_where_indexes_lie(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGVAULT_INDEX_DIR", str(tmp_path / "elsewhere"))
    with Vault(root) as vault:
        vault.sync()
        assert Path(vault.status().index).parent == tmp_path / "elsewhere"
    (root / ".cogvault.toml").write_text(f'index_dir = "{tmp_path / "third"}"\n')
    with pytest.raises(ConfigError) as caught:
        Vault(root)
    assert caught.value.key == "index_dir"
    assert not (tmp_path / "third").exists()
    (root / ".cogvault.toml").unlink()
    monkeypatch.delenv("COGVAULT_INDEX_DIR")
    with Vault(root) as vault:
        vault.sync()
        assert (tmp_path / "cache").resolve() in Path(vault.status().index).resolve().parents


def test_an_index_folder_inside_the_vault_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("COGVAULT_INDEX_DIR", "COGVAULT_STATE_DIR"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, str(root / "x"))
            with pytest.raises(ConfigError, match=variable):
                Vault(root)
    assert not (root / "x").exists()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("COGVAULT_RECURSIVE", "perhaps"),
        ("COGVAULT_THREADS", "0"),
        ("COGVAULT_THREADS", "many"),
        ("COGVAULT_REFRESH_SECONDS", "-1"),
        ("COGVAULT_MIN_SCORE", "7"),
        ("COGVAULT_THRESHOLDS", "[0.1, 0.9]"),
        ("COGVAULT_RANKERS", "[]"),
        ("COGVAULT_RANKERS", '["nobody"]'),
        ("COGVAULT_SUMMARIZER", "nobody"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        Vault(root)
    key = variable.removeprefix("COGVAULT_").lower()
    assert key in (caught.value.key or "").lower() or key in str(caught.value).lower()


@pytest.mark.parametrize("threads", ["1", "2", "64"])
def test_the_number_of_threads_changes_no_answer(root: Path, monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("COGVAULT_THREADS", threads)
    assert found(root) == ["a.md"]


@pytest.mark.parametrize("model", ["none", "hashing", "auto", "nobody/nothing"])
def test_the_environment_chooses_the_model(root: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COGVAULT_MODEL", model)
    if model == "auto":
        with Vault(root, Config(model="hashing")) as vault:
            vault.sync()
    with Vault(root) as vault:
        report = vault.sync()
        hits = vault.search("wombat")
        assert ids(hits) == ["a.md"]
        expected = Status.DEGRADED if model == "nobody/nothing" else Status.OK
        assert (report.status, hits.status, vault.status().status) == (expected, expected, expected)
        assert vault.status().model == ("hashing" if model in ("hashing", "auto") else "")
