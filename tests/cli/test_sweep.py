"""``cogvault forget --sweep``."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run, document


@pytest.fixture
def aged(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with one card that nobody has used for years."""
    monkeypatch.setenv("COGVAULT_STATE_DIR", str(tmp_path / "state"))
    card = vault / "project_aged.md"
    card.write_text("An old story.", encoding="utf-8")
    seconds = time.time() - 1000 * 86_400
    os.utime(card, (seconds, seconds))
    return vault


def test_a_sweep_is_a_dry_run_that_gives_reasons(run: Run, aged: Path) -> None:
    result = run("forget", "--sweep", "--tenant", aged)
    assert result.exit_code == 0
    weakest, *others, summary = result.stdout.splitlines()
    assert weakest == "0.00  weak      project_aged.md  strength 0.00 after 1000 days, half-life 90, never used"
    assert len(others) == 4
    assert all("kept" in line for line in others)
    assert any("cards of type reference are evergreen" in line for line in others)
    assert summary == "1 of 5 cards would be archived (--apply does it)"
    assert (aged / "project_aged.md").exists()


def test_applying_archives_and_restore_brings_back(run: Run, aged: Path) -> None:
    result = run("forget", "--sweep", "--apply", "--tenant", aged)
    assert result.stdout.endswith("1 of 5 cards forgotten\n")
    assert "archived  project_aged.md" in result.stdout
    assert (aged / ".archive" / "project_aged.md").exists()
    assert run("restore", "project_aged.md", "--tenant", aged).exit_code == 0
    assert (aged / "project_aged.md").read_text("utf-8") == "An old story."
    assert "0 of 5 cards would be archived" in run("forget", "--sweep", "--tenant", aged).stdout


def test_json_has_every_card(run: Run, aged: Path) -> None:
    report = document(run("forget", "--sweep", "--tenant", aged, "--json"))
    assert (report["status"], report["applied"]) == ("ok", False)
    assert [item["verdict"] for item in report["items"]].count("weak") == 1
    assert report["items"][0]["card"]["id"] == "project_aged.md"


def test_limits_come_from_the_settings(run: Run, aged: Path) -> None:
    (aged / ".cogvault.toml").write_text("forgetting_min_strength = 0\n", encoding="utf-8")
    assert "0 of 5 cards would be archived\n" in run("forget", "--sweep", "--tenant", aged).stdout


def test_deleting_needs_the_setting(run: Run, aged: Path) -> None:
    result = run("forget", "--sweep", "--apply", "--purge", "--tenant", aged)
    assert result.exit_code == 2
    assert "forgetting_archive_before_delete" in result.stderr
    deleting = {"COGVAULT_FORGETTING_ARCHIVE_BEFORE_DELETE": "false"}
    assert run("forget", "--sweep", "--apply", "--purge", "--tenant", aged, env=deleting).exit_code == 0
    assert not list(aged.rglob("project_aged.md"))


@pytest.mark.parametrize("args", [[], ["a.md", "--sweep"], ["--sweep", "--archived"], ["a.md", "--apply"]])
def test_combinations_that_mean_nothing_are_refused(args: list[str], run: Run, aged: Path) -> None:
    assert run("forget", *args, "--tenant", aged).exit_code == 2
