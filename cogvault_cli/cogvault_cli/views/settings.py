"""Settings and their origins for people."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from cogvault.types import JsonValue
from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put


def print_settings(console: Console, settings: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """One line a setting: key, value, origin; what is not a default stands out."""
    values = {key: shown(setting["value"]) for key, setting in settings.items()}
    key_width = max(map(len, values))
    value_width = min(max(map(len, values.values())), 32)
    for key, setting in settings.items():
        origin = str(setting["origin"])
        is_default = origin == "default"
        put(
            console,
            (f"{key:<{key_width}}  ", "default" if is_default else "bold"),
            (printable(f"{values[key]:<{value_width}}  "), "default" if is_default else "green"),
            (printable(origin), DIM if is_default else "green"),
        )


def shown(value: JsonValue) -> str:
    """A value as it would be written in ``.cogvault.toml``; ``none`` for nothing."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(shown(item) for item in value)}]"
    return str(value)
