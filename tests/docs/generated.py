"""Parts of the reference that are made from the code: settings, help of commands, MCP tools.

``python -m tests.docs.generated`` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from cogvault.config import MACHINE_FIELDS, Config
from cogvault_mcp.server import INSTRUCTIONS, TOOLS, definition

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SETTINGS, COMMANDS, MCP_TOOLS = REFERENCE / "config.md", REFERENCE / "cli.md", REFERENCE / "mcp.md"
START, END = "<!-- settings: made by tests/docs/generated.py -->", "<!-- end of settings -->"
TOOLS_START, TOOLS_END = "<!-- tools: made by tests/docs/generated.py -->", "<!-- end of tools -->"
WIDTH = 100


def table() -> str:
    """One row for each field of ``Config``."""
    schema = Config.model_json_schema()["properties"]
    rows = ["| key | default | allowed | in a vault's file | meaning |", "|---|---|---|---|---|"]
    for name, field in Config.model_fields.items():
        default = "the usable CPUs" if field.default_factory else f"`{_toml(field.default)}`"
        own = "no" if name in MACHINE_FIELDS else "yes"
        rows.append(f"| `{name}` | {default} | {_allowed(schema[name])} | {own} | {field.description} |")
    return "\n".join(rows)


def settings(text: str) -> str:
    """The document with a fresh table."""
    return _between(text, START, END, table())


def tools(text: str) -> str:
    """The document with fresh tables of the MCP tools."""
    parts = [f"What a client is told first:\n\n> {INSTRUCTIONS}"]
    for tool in map(definition, TOOLS):
        rows = ["| argument | type | needed | meaning |", "|---|---|---|---|"]
        for name, schema in tool.input_schema["properties"].items():
            needed = "yes" if name in tool.input_schema.get("required", ()) else _unless(schema)
            rows.append(f"| `{name}` | {_kind(schema)} | {needed} | {schema['description']} |")
        assert tool.annotations is not None
        kind = "reads only" if tool.annotations.read_only_hint else "writes"
        parts.append(f"### `{tool.name}` ({kind})\n\n{tool.description}\n\n" + "\n".join(rows))
    return _between(text, TOOLS_START, TOOLS_END, "\n\n".join(parts))


def _between(text: str, start: str, end: str, fresh: str) -> str:
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{fresh}\n\n{end}{after}"


def _unless(schema: dict[str, Any]) -> str:
    return f"no, `{json.dumps(schema['default'])}`" if "default" in schema else "no"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    return "list of text" if schema["type"] == "array" else str(schema["type"]).replace("string", "text")


def _toml(value: Any) -> str:
    if value is None:
        return "none"
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _allowed(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_allowed(choice) for choice in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        items = schema.get("prefixItems", [schema.get("items", {})])
        count = f"{len(items)} " if "prefixItems" in schema else ""
        return f"list of {count}{_allowed(items[0]).replace('number', 'numbers')}"
    word = {"boolean": "true, false", "integer": "integer", "number": "number", "string": "text", "null": "none"}
    allowed = "path" if schema.get("format") == "path" else word[schema["type"]]
    if "minimum" in schema:
        allowed += f" from {schema['minimum']:g}"
    if "exclusiveMinimum" in schema:
        allowed += f" above {schema['exclusiveMinimum']:g}"
    if "maximum" in schema:
        allowed += f" to {schema['maximum']}"
    return allowed


def commands(text: str) -> str:
    """The document with fresh output of each ``$ cogvault … --help``."""
    shown = re.compile(r"^(\$ cogvault ([^\n]*)--help\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
    return shown.sub(lambda match: match[1] + _help(match[2].split()), text)


def _help(words: list[str]) -> str:
    command = [sys.executable, "-m", "cogvault_cli", *words, "--help"]
    environ = {**os.environ, "COLUMNS": str(WIDTH)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout


if __name__ == "__main__":
    for path, fresh in ((SETTINGS, settings), (COMMANDS, commands), (MCP_TOOLS, tools)):
        path.write_text(fresh(path.read_text(encoding="utf-8")), encoding="utf-8")
