"""The Claude Code plugin: every file is what Claude Code expects, and names only what exists."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import cogvault
import cogvault_mcp
from cogvault_cli.hooks.event import EVENTS
from cogvault_cli.hooks.run import ANSWER_SECONDS, ANSWERED, CAPTURE_SECONDS
from cogvault_mcp.server import TOOLS

PLUGIN = Path(cogvault_mcp.__file__).parent / "plugin"
DISTRIBUTION = Path(__file__).parents[2] / "cogvault_mcp"
SCRIPTS = Path(sys.executable).parent
FILES = sorted(path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*") if path.is_file())


def load(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def frontmatter(name: str) -> tuple[dict[str, Any], str]:
    _, head, body = (PLUGIN / name).read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def hook_commands() -> dict[str, str]:
    """Command of each event of Claude Code."""
    hooks = load("hooks/hooks.json")["hooks"]
    return {event: entry["command"] for event, groups in hooks.items() for group in groups for entry in group["hooks"]}


def test_these_are_its_files() -> None:
    assert FILES == [
        ".claude-plugin/marketplace.json",
        ".claude-plugin/plugin.json",
        ".mcp.json",
        "commands/remember.md",
        "hooks/hooks.json",
        "skills/memory/SKILL.md",
    ]


def test_manifest_names_the_plugin_and_the_one_version() -> None:
    manifest = load(".claude-plugin/plugin.json")
    assert manifest["name"] == "cogvault"
    assert manifest["version"] == cogvault.__version__
    assert manifest["description"]
    assert manifest["author"]["name"]


def test_marketplace_lists_the_plugin_beside_it() -> None:
    market = load(".claude-plugin/marketplace.json")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", market["name"])
    assert market["owner"]["name"]
    (plugin,) = market["plugins"]
    assert plugin["name"] == load(".claude-plugin/plugin.json")["name"]
    assert (PLUGIN / plugin["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_server_is_the_installed_program() -> None:
    (entry,) = load(".mcp.json")["mcpServers"].values()
    done = subprocess.run([SCRIPTS / entry["command"], *entry["args"], "--version"], capture_output=True, text=True)
    assert done.stdout == f"cogvault-mcp {cogvault.__version__}\n"


def test_every_event_has_its_hook() -> None:
    assert {event: command.split()[-1] for event, command in hook_commands().items()} == {
        event: name for name, event in EVENTS.items()
    }


@pytest.mark.parametrize("event", EVENTS.values())
def test_hook_runs_as_claude_code_runs_it(event: str, tmp_path: Path) -> None:
    environ = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    data = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(tmp_path), "prompt": "why?"})
    done = subprocess.run(
        hook_commands()[event], shell=True, input=data, capture_output=True, text=True, env=environ, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_claude_code_waits_longer_than_a_hook_works() -> None:
    hooks = load("hooks/hooks.json")["hooks"]
    for name, event in EVENTS.items():
        (entry,) = hooks[event][0]["hooks"]
        assert entry["type"] == "command"
        assert entry["timeout"] > (ANSWER_SECONDS if name in ANSWERED else CAPTURE_SECONDS)


def test_skill_and_command_say_what_they_are_for() -> None:
    skill, _ = frontmatter("skills/memory/SKILL.md")
    assert skill["name"] == "memory"
    assert 50 < len(skill["description"]) <= 1024
    command, text = frontmatter("commands/remember.md")
    assert command["description"]
    assert "$ARGUMENTS" in text


@pytest.mark.parametrize("name", ["skills/memory/SKILL.md", "commands/remember.md"])
def test_tools_that_are_named_exist(name: str) -> None:
    named = set(re.findall(r"cogvault_\w+", (PLUGIN / name).read_text(encoding="utf-8")))
    assert named
    assert named <= {tool.name for tool in TOOLS}


def test_wheel_ships_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=DISTRIBUTION, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    assert {f"cogvault_mcp/plugin/{name}" for name in FILES} <= names


def test_cogvault_mcp_is_the_same_program(tmp_path: Path) -> None:
    program = shutil.which("cogvault", path=str(SCRIPTS))
    assert program is not None
    for words in ("--version", "--help", "--tenant ''"):
        ours = subprocess.run([program, "mcp", *shlex.split(words)], capture_output=True, cwd=tmp_path)
        theirs = subprocess.run([SCRIPTS / "cogvault-mcp", *shlex.split(words)], capture_output=True, cwd=tmp_path)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_cogvault_mcp_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from cogvault_cli.main import cli

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    done = CliRunner().invoke(cli, ["mcp", "--tenant", str(tmp_path)])
    assert done.exit_code == 3
    assert "cogvault-mcp is not installed" in done.output
    assert "pip install cogvault-mcp" in done.output


def test_server_tells_where_the_plugin_is() -> None:
    done = subprocess.run([SCRIPTS / "cogvault-mcp", "--plugin"], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == PLUGIN
