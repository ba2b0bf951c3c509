"""Parts of the reference that are made from the code: the table of settings and the help of each command.

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

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SETTINGS, COMMANDS = REFERENCE / "config.md", REFERENCE / "cli.md"
START, END = "<!-- settings: made by tests/docs/generated.py -->", "<!-- end of settings -->"
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
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


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
    for path, fresh in ((SETTINGS, settings), (COMMANDS, commands)):
        path.write_text(fresh(path.read_text(encoding="utf-8")), encoding="utf-8")
