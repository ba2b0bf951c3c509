"""The real command, fed with events in the shape in which Claude Code sends them; a daemon of the tests' own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cogvault.client import connect

SESSION = "6f1c0a52-0f0e-4f0b-9c39-2f4a3f0e7d11"


@dataclass
class World:
    """A vault, an agent's project, and the environment in which hooks run.

    ``environ`` is that of every process; the runtime folder in it has a daemon or not.
    """

    vault: Path
    project: Path
    environ: dict[str, str]

    @property
    def transcript(self) -> Path:
        """The session's file, as Claude Code keeps it."""
        return self.project.parent / f"{SESSION}.jsonl"

    def event(self, name: str, **changes: Any) -> dict[str, Any]:
        """An event with the fields that Claude Code sends; changes replace them."""
        own: dict[str, dict[str, Any]] = {
            "session-start": {"hook_event_name": "SessionStart", "source": "startup", "model": "claude"},
            "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "Where does the job queue run?"},
            "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""},
            "session-end": {"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
        }
        common = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "permission_mode": "default",
        }
        return {**common, **own[name], **changes}

    def hook(self, name: str, *options: str, data: bytes | None = None, **changes: Any) -> str:
        """Run the hook; what it printed. It must end well, whatever it is given."""
        done = self.run(name, *options, data=data, **changes)
        assert done.returncode == 0, done.stderr
        assert "--debug" in options or done.stderr == b""
        return done.stdout.decode("ascii")

    def run(
        self, name: str, *options: str, data: bytes | None = None, **changes: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the hook as a process."""
        given = json.dumps(self.event(name, **changes)).encode() if data is None else data
        command = [sys.executable, "-m", "cogvault_cli", "hook", name, *options]
        return subprocess.run(command, input=given, capture_output=True, env=self.environ, cwd=self.project, timeout=60)

    def context(self, name: str, **changes: Any) -> str:
        """What the agent is told; "" = nothing."""
        printed = self.hook(name, **changes)
        if not printed:
            return ""
        document = json.loads(printed)
        own = document["hookSpecificOutput"]
        assert document.keys() == {"hookSpecificOutput"}
        assert own.keys() == {"hookEventName", "additionalContext"}
        assert own["hookEventName"] == self.event(name)["hook_event_name"]
        text: str = own["additionalContext"]
        return text

    def say(self, *lines: dict[str, Any]) -> None:
        """Add lines to the transcript."""
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(line)}\n" for line in lines)


def line(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    """One line of a transcript."""
    message = {"role": kind, "content": content}
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/project",
        "sessionId": SESSION,
        "version": "2.1.230",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": "2026-08-10T12:00:05.123Z",
        **more,
    }


CARDS = {
    "project_queue.md": (
        "---\ntitle: Where the job queue runs\ntype: project\n---\n\nThe job queue runs in a PostgreSQL table.\n"
    ),
    "project_backup.md": "---\ntitle: Nightly backup\n---\n\nThe nightly backup goes to the blue disk.\n",
    "user_mara.md": (
        "---\ntitle: How Mara likes the shop project\npinned: true\n---\n\nMara wants the diff of the shop first.\n"
    ),
}


def new_world(folder: Path, runtime: Path) -> World:
    """A small vault and an empty project."""
    vault, project = folder / "memory", folder / "shop"
    vault.mkdir(parents=True)
    project.mkdir()
    for name, text in CARDS.items():
        (vault / name).write_text(text, encoding="utf-8")
    environ = {
        **os.environ,
        "COGVAULT_INDEX_DIR": str(folder / "indexes"),
        "COGVAULT_MODEL": "none",
        "COGVAULT_RUNTIME_DIR": str(runtime),
        "COGVAULT_STATE_DIR": str(folder / "state"),
        "COGVAULT_TENANT": str(vault),
    }
    return World(vault, project, environ)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """No daemon."""
    return new_world(tmp_path, tmp_path / "no-daemon")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    """A daemon that has the vault, indexed."""
    with tempfile.TemporaryDirectory(prefix="cv-") as runtime:  # short: a socket's path is
        world = new_world(tmp_path, Path(runtime) / "run")
        with (tmp_path / "daemon.log").open("wb") as log:
            command = [sys.executable, "-m", "cogvault_cli", "daemon"]
            daemon = subprocess.Popen(command, env=world.environ, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            while (vault := connect(world.vault, environment=world.environ)) is None:
                assert daemon.poll() is None, (tmp_path / "daemon.log").read_text()
                time.sleep(0.05)
            with vault:
                vault.sync()
            yield world
        finally:
            daemon.terminate()
            daemon.wait(30)
