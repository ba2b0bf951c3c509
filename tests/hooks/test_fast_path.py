"""A hook stands between a person and their agent: it imports nothing that it can do without."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.hooks.conftest import World

HEAVY = {"asyncio", "click", "filelock", "numpy", "pydantic", "regex", "rich", "tantivy", "yaml"}
# Of the standard library: each takes as long to import as the daemon to answer.
SLOW = {"dataclasses", "email", "http", "inspect", "ssl"}


@pytest.mark.parametrize("name", ["session-start", "prompt"])
def test_answer_needs_no_heavy_module(name: str, served: World) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "cogvault_cli", "hook", name]
    data = json.dumps(served.event(name)).encode()
    done = subprocess.run(command, input=data, capture_output=True, env=served.environ, check=True)
    assert done.stdout
    imported = {line.rpartition(b"|")[2].strip().decode().partition(".")[0] for line in done.stderr.splitlines()}
    assert {"cogvault", "cogvault_cli"} <= imported
    assert imported & (HEAVY | SLOW) == set()
