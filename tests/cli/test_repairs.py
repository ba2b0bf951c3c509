"""A command does not wait for a long repair, which goes on when the command is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cogvault import engine
from cogvault.indexes import LocalIndex
from tests.cli.conftest import Run
from tests.settling import settle

Progress = Callable[[int, int], None]


class Started:
    """In the place of ``subprocess.Popen``: remembers the command."""

    pid = 4242
    commands: list[list[str]]

    def __init__(self, command: list[str], **_: Any) -> None:
        self.commands.append(command)


@pytest.fixture
def started(vault: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> type[Started]:
    """A damaged index; repairs of it take until they are broken off, and what is started for them is not."""

    def endless(index: LocalIndex, progress: Progress) -> None:
        while True:
            progress(0, 1)
            time.sleep(0.005)

    settle(vault)
    run("index", vault)
    for path in (tmp_path / "indexes").glob("*/keyword-*/*.term"):
        path.unlink()
        path.write_bytes(b"nothing")
    Started.commands = []
    monkeypatch.setattr(LocalIndex, "repair", endless)
    monkeypatch.setattr(subprocess, "Popen", Started)
    return Started


def test_a_repair_that_is_not_done_goes_on_in_a_process_of_its_own(
    vault: Path, tmp_path: Path, run: Run, started: type[Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("search", "queue", "--tenant", vault, "--json", "--ignore", "drafts/")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["status"], answer["hits"][0]["id"]) == (0, "degraded", "project_queue.md")
    assert "made anew by process 4242" in result.stderr
    [command] = started.commands
    assert command[0] == sys.executable
    assert command[-2:] == ["--ignore", "drafts/"]
    monkeypatch.undo()
    (vault / "cogvault_cli.py").write_text("raise SystemExit(9)")  # where the command is given is nothing of it
    environ = {**os.environ, "COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}
    assert subprocess.run(command, env=environ, cwd=vault, capture_output=True, timeout=60, check=False).returncode == 0
    again = run("search", "queue", "--tenant", vault, "--json", "--ignore", "drafts/")
    assert (json.loads(again.stdout)["status"], again.stderr) == ("ok", "")


def test_what_shapes_an_index_is_handed_on(vault: Path, run: Run, started: type[Started]) -> None:
    run("search", "queue", "--tenant", vault, "--no-recursive", "--no-strip-frontmatter", "--model", "none")
    [command] = started.commands
    assert command[4:] == [
        *("index", "--tenant", str(vault), "--model", "none", "--no-recursive", "--no-strip-frontmatter"),
    ]


def test_a_repair_that_is_done_starts_nothing(
    vault: Path, run: Run, started: type[Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FIRST_LOOK_SECONDS", 60.0)
    monkeypatch.setattr(LocalIndex, "repair", lambda index, progress: None)
    assert run("search", "queue", "--tenant", vault).stderr == ""
    assert started.commands == []
