"""The MCP inspector, a client that we did not write, over standard input and output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cogvault_mcp.server import TOOLS

SECONDS = 120.0
Inspect = Callable[..., dict[str, Any]]


@pytest.fixture
def inspect(programs: Path, user: Mapping[str, str], example_vault: Path) -> Inspect:
    """One request of the inspector; its result."""

    def run(method: str, *arguments: str) -> dict[str, Any]:
        command = ["mcp-inspector", "--cli", "cogvault-mcp", "--tenant", str(example_vault), "--method", method]
        done = subprocess.run(
            [programs / command[0], *command[1:], *arguments], env=user, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    return run


def test_it_lists_tools_prompts_and_resources(inspect: Inspect) -> None:
    assert [tool["name"] for tool in inspect("tools/list")["tools"]] == [tool.name for tool in TOOLS]
    assert [prompt["name"] for prompt in inspect("prompts/list")["prompts"]] == ["remember"]
    assert inspect("resources/list")["resources"]
    assert inspect("resources/templates/list")["resourceTemplates"]


def test_it_recalls(inspect: Inspect) -> None:
    result = inspect("tools/call", "--tool-name", "cogvault_recall", "--tool-arg", "query=connection pool")
    assert not result.get("isError")
    assert result["structuredContent"]["status"] in ("ok", "degraded")
    assert result["structuredContent"]["hits"]


def test_it_reads_a_resource(inspect: Inspect) -> None:
    uri = inspect("resources/list")["resources"][0]["uri"]
    assert inspect("resources/read", "--uri", uri)["contents"][0]["text"]
