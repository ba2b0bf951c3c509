"""Running the command line as its users do: in this process for most tests, as a process of its own for some."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result

from cogvault_cli.main import cli

Run: TypeAlias = Callable[..., Result]
Spawn: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``cogvault`` with these arguments in this process; indexes lie in the test's own folder, no model."""
    environ = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}

    def call(*args: str | Path, env: Mapping[str, str | None] | None = None) -> Result:
        return CliRunner().invoke(cli, [str(arg) for arg in args], env={**environ, **(env or {})})

    return call


@pytest.fixture
def spawn(tmp_path: Path) -> Spawn:
    """Run ``cogvault`` with these arguments as a process; the same settings as ``run``."""
    environ = {**os.environ, "COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}

    def call(*args: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cogvault_cli", *map(str, args)],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env={**environ, **(env or {})},
            timeout=60,
        )

    return call


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Four small cards."""
    folder = tmp_path / "memory"
    folder.mkdir()
    cards = {
        "project_queue.md": (
            "---\ntitle: Jobs in PostgreSQL\ntype: project\ntags: [queue, decision]\ncreated: 2026-01-20\n"
            "team: harbor\n---\n\n# Jobs in PostgreSQL\n\nThe job queue moved from Redis into a table.\n"
        ),
        "project_old-queue.md": (
            "---\ntitle: Jobs on Redis\ntype: project\ncreated: 2025-10-08\nsuperseded_by: project_queue\n"
            "valid_until: 2026-01-20\n---\n\nThe job queue runs on Redis lists, not in a table.\n"
        ),
        "reference_flags.md": (
            "---\ntype: reference\n---\n\n# Compiler flags\n\nWe build with -Werror and nothing else.\n"
        ),
        "user_设备.md": "---\ntitle: 设备清单\ntype: user\n---\n\n仓库里的打印机和扫描仪每个月检查一次。\n",
    }
    for name, text in cards.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def document(result: Result | subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on standard output."""
    return json.loads(result.stdout)
