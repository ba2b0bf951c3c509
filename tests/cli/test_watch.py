"""``cogvault watch``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from rich.console import Console

from cogvault import Config, Vault
from cogvault_cli.views.watch import picture

Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Run ``cogvault watch`` as a process that is gone after the test."""
    running: list[subprocess.Popen[str]] = []
    environ = {**os.environ, "COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}

    def call(*args: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "cogvault_cli", "watch", *map(str, args)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environ)
        running.append(process)
        return process

    yield call
    for process in running:
        process.kill()
        process.communicate()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def next_document(process: subprocess.Popen[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next_line(process))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_json_lines_tell_each_change_until_a_signal_ends_it(start: Start, vault: Path, number: int) -> None:
    process = start(vault, "--json")
    assert next_document(process)["event"] == "watching"
    assert len(next_document(process)["added"]) == 4
    (vault / "new.md").write_text("# New\n", encoding="utf-8")
    assert next_document(process)["added"] == ["new.md"]
    process.send_signal(number)
    assert next_document(process) == {"event": "stopped"}
    assert process.wait(20) == 0


def test_plain_lines_when_nobody_looks_at_a_terminal(start: Start, vault: Path) -> None:
    process = start(vault)
    assert next_line(process).startswith(f"watching {vault}")
    assert next_line(process).startswith("4 added (")
    (vault / "new.md").write_text("# New\n", encoding="utf-8")
    assert next_line(process).startswith("1 added (new.md) in ")
    process.send_signal(signal.SIGTERM)
    assert next_line(process) == "stopped\n"
    assert process.wait(20) == 0


def test_picture_shows_mode_queue_and_last_sync(vault: Path, tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=200)
    with Vault(vault, Config(model="none", index_dir=tmp_path / "index")) as opened:
        watcher = opened.watch()
        console.print(picture(watcher, "notes"))
        watcher.last_report = opened.sync()
        console.print(picture(watcher, "notes"))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "watching notes by events" in shown
    assert "last sync  running" in shown
    assert "4 added (" in shown
    assert "queue      0" in shown
