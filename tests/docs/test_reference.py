"""The reference is complete: every setting, error and command, and no dead link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import cogvault
from cogvault import errors
from cogvault_cli.main import cli
from tests.docs import generated
from tests.docs.fences import DOCUMENTS, ROOT, fences


def test_every_setting_is_documented() -> None:
    text = generated.SETTINGS.read_text(encoding="utf-8")
    assert text == generated.settings(text), "run: .venv/bin/python -m tests.docs.generated"


@pytest.mark.parametrize(
    "kind", [cogvault.Vault, cogvault.Hit, cogvault.Hits, cogvault.SyncReport, cogvault.VaultStatus]
)
def test_every_public_member_is_documented(kind: type) -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    members = {name for name in dir(kind) if not name.startswith("_")} - set(dir(tuple)) - {"items"}
    assert [name for name in sorted(members) if not re.search(rf"`{name}[`(]", text)] == []


def test_every_tool_of_the_mcp_server_is_documented() -> None:
    text = generated.MCP_TOOLS.read_text(encoding="utf-8")
    assert text == generated.tools(text), "run: .venv/bin/python -m tests.docs.generated"


def test_every_error_is_documented() -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert [name for name in errors.__all__ if f"`{name}`" not in text] == []


def test_every_command_is_documented_with_its_help() -> None:
    shown = {line for fence in fences(generated.COMMANDS) for line in fence.text.splitlines()}
    wanted = [f"$ cogvault {name} --help" for name in cli.list_commands(None)]
    assert [command for command in ["$ cogvault --help", *wanted] if command not in shown] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    dead = []
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        for child in token.children or []:
            target = str(child.attrs.get("href", ""))
            if child.type == "link_open" and not re.match(r"[a-z]+:|#", target):
                file = path.parent / target.partition("#")[0]
                if not file.exists():
                    dead.append(target)
    assert dead == []
