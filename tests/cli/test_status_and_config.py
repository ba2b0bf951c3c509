"""``cogvault status`` and ``cogvault config``."""

from __future__ import annotations

from pathlib import Path

from cogvault.config import Config
from tests.cli.conftest import Run, document


def test_status_counts_what_is_indexed(run: Run, vault: Path) -> None:
    run("index", vault)
    status = document(run("status", "--tenant", vault, "--json"))
    assert status["status"] == "ok"
    assert status["cards"] == 4
    assert status["chunks"] >= 4
    assert Path(status["path"]) == vault
    assert Path(status["index"]).parent == vault.parent / "indexes"
    assert status["bytes_on_disk"] > 0


def test_status_for_people(run: Run, vault: Path) -> None:
    run("index", vault)
    result = run("status", "--tenant", vault)
    assert result.exit_code == 0
    rows = {line.split()[0]: line.split()[1] for line in result.stdout.splitlines()}
    assert rows["vault"] == str(vault)
    assert rows["cards"] == "4"
    assert rows["status"] == "ok"
    assert rows["model"] == "none"


def test_status_before_the_first_sync_is_empty_and_says_what_to_do(run: Run, vault: Path) -> None:
    result = run("status", "--tenant", vault)
    assert result.exit_code == 0
    assert "empty" in result.stdout
    assert "sync" in result.stdout


def test_status_lists_problems_with_their_place(run: Run, vault: Path) -> None:
    (vault / "broken.md").write_text("---\ntitle: [open\n---\n\nText.\n", encoding="utf-8")
    run("index", vault)
    problems = document(run("status", "--tenant", vault, "--json"))["problems"]
    assert [problem["path"] for problem in problems] == ["broken.md"]
    assert "broken.md:" in run("status", "--tenant", vault).stdout


def test_config_shows_every_key_with_its_origin(run: Run, vault: Path) -> None:
    (vault / ".cogvault.toml").write_text("hits_per_card = 2\n", encoding="utf-8")
    result = run("config", "--tenant", vault, "--half-life", "30", "--json", env={"COGVAULT_WINDOW": "3"})
    settings = document(result)["settings"]
    assert set(settings) == set(Config.model_fields)
    assert settings["half_life_days"] == {"value": 30, "origin": "argument"}
    assert settings["tenant"] == {"value": str(vault), "origin": "argument"}
    assert settings["window"] == {"value": 3, "origin": "environment COGVAULT_WINDOW"}
    assert settings["hits_per_card"] == {"value": 2, "origin": str(vault / ".cogvault.toml")}
    assert settings["rrf_k"] == {"value": 60, "origin": "default"}


def test_config_without_a_vault(run: Run) -> None:
    settings = document(run("config", "--json"))["settings"]
    assert settings["tenant"] == {"value": None, "origin": "default"}
    assert settings["model"] == {"value": "none", "origin": "environment COGVAULT_MODEL"}


def test_config_knows_that_the_tenant_came_from_the_environment(run: Run, vault: Path) -> None:
    settings = document(run("config", "--json", env={"COGVAULT_TENANT": str(vault)}))["settings"]
    assert settings["tenant"] == {"value": str(vault), "origin": "environment COGVAULT_TENANT"}


def test_config_for_people(run: Run, vault: Path) -> None:
    result = run("config", "--tenant", vault, "--ignore", "a/", "--ignore", "b/")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Config.model_fields)
    ignore = next(line for line in lines if line.startswith("ignore "))
    assert "[a/, b/]" in ignore
    assert ignore.endswith("argument")
