"""Lines for clients, taken out of the documentation: their syntax, their shape, and the server that they start."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cogvault
from tests.docs.fences import ROOT, Fence, fences

SERVER = ROOT / "cogvault_mcp" / "server.json"
SCRIPTS = Path(sys.executable).parent
# Where each client looks for its servers.
PLACES = {
    "claude-code": "mcpServers",
    "claude-desktop": "mcpServers",
    "codex": "mcp_servers",
    "cursor": "mcpServers",
    "gemini-cli": "mcpServers",
    "opencode": "mcp",
    "vscode": "servers",
    "windsurf": "mcpServers",
    "zed": "context_servers",
}
SNIPPETS = {
    word.removeprefix("client="): fence
    for fence in fences(ROOT / "docs" / "how-to" / "connect-a-client.md")
    for word in fence.words
    if word.startswith("client=")
}


def command(client: str, fence: Fence) -> list[str]:
    """The command line that a client makes of its piece of configuration."""
    document: Any = tomllib.loads(fence.text) if fence.language == "toml" else json.loads(fence.text)
    (entry,) = document[PLACES[client]].values()
    if isinstance(entry["command"], list):
        return [str(word) for word in entry["command"]]
    return [entry["command"], *entry["args"]]


def test_each_client_has_its_lines() -> None:
    assert set(SNIPPETS) == set(PLACES)


@pytest.mark.parametrize("client", PLACES)
def test_named_server_answers(client: str, tmp_path: Path) -> None:
    program, *arguments = command(client, SNIPPETS[client])
    (tmp_path / "memory").mkdir()
    arguments = [word.replace("/home/ana/memory", str(tmp_path / "memory")) for word in arguments]
    assert str(tmp_path / "memory") in arguments
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": client, "version": "1"},
        },
    }
    done = subprocess.run(
        [SCRIPTS / program, *arguments], input=f"{json.dumps(hello)}\n", capture_output=True, text=True, timeout=60
    )
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert answer["result"]["serverInfo"] == {"name": "cogvault", "title": "cogvault", "version": cogvault.__version__}


def test_registry_file_has_what_the_registry_asks_for() -> None:
    """All that the published schema of 2025-12-11 says of a PyPI package with named arguments.

    The schema itself is in no package that could be installed here: its definitions were read, and what they ask is
    said below. They allow keys that they do not know; here an unknown one is a mistake.
    """
    server = json.loads(SERVER.read_text(encoding="utf-8"))
    assert server.keys() == {"$schema", "name", "title", "description", "version", "packages"}
    assert server["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 3 <= len(server["name"]) <= 200
    assert 1 <= len(server["title"]) <= 100
    assert 1 <= len(server["description"]) <= 100
    assert server["version"] == cogvault.__version__
    (package,) = server["packages"]
    assert package.keys() <= {
        "registryType", "registryBaseUrl", "identifier", "version", "fileSha256", "runtimeHint", "transport",
        "runtimeArguments", "packageArguments", "environmentVariables",
    }  # fmt: skip
    assert (package["registryType"], package["registryBaseUrl"]) == ("pypi", "https://pypi.org")
    assert (package["identifier"], package["version"]) == ("cogvault-mcp", cogvault.__version__)
    assert package["transport"] == {"type": "stdio"}
    for argument in package["packageArguments"]:
        assert argument["type"] == "named"
        assert argument["name"].startswith("--")
    for given in (*package["packageArguments"], *package["environmentVariables"]):
        texts = {"type", "name", "description", "format", "placeholder", "default", "value"}
        assert given.keys() <= {*texts, "isRequired", "isSecret", "isRepeated"}
        assert all(isinstance(value, str if key in texts else bool) for key, value in given.items())
        assert given["format"] in ("string", "number", "boolean", "filepath")
        assert given["name"]


def test_registry_file_and_package_name_each_other() -> None:
    server = json.loads(SERVER.read_text(encoding="utf-8"))
    project = tomllib.loads((SERVER.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == server["packages"][0]["identifier"]
    assert f"mcp-name: {server['name']}" in project["readme"]["text"]


def test_arguments_of_the_registry_file_are_the_programs() -> None:
    server = json.loads(SERVER.read_text(encoding="utf-8"))
    done = subprocess.run([SCRIPTS / "cogvault-mcp", "--help"], capture_output=True, text=True, check=True)
    for argument in server["packages"][0]["packageArguments"]:
        assert f"{argument['name']} " in done.stdout
