"""Errors about settings: the key, the place, the nearest valid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from cogvault.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Source:
    """Where values that are being checked came from, so that an error can say it.

    Attributes:
        path: the file that holds them, None = no file.
        text: its content, for line numbers.
        prefix: what environment variables put before the name of a field, "" = no variables.
    """

    path: Path | None = None
    text: str = ""
    prefix: str = ""

    def name(self, key: str) -> str:
        """The key as its author wrote it."""
        return f"{self.prefix}{key.upper()}" if self.prefix else key

    def error(self, key: str, message: str, hint: str | None = None) -> ConfigError:
        """An error about one key."""
        starts = (line.partition("=")[0].strip() for line in self.text.splitlines())
        line = next((number for number, start in enumerate(starts, 1) if start == key), None)
        return ConfigError(message, path=self.path, line=line, key=self.name(key), hint=hint)

    def unknown(self, key: str, meant: str | None) -> ConfigError:
        """An error about a key that does not exist."""
        hint = f"did you mean '{self.name(meant)}'?" if meant else "see docs/reference/config.md for all keys"
        return self.error(key, f"unknown key '{self.name(key)}'", hint)

    def explain(self, error: ValidationError, valid: Iterable[str]) -> ConfigError:
        """The first of pydantic's complaints, with its key and place."""
        first = error.errors(include_url=False, include_context=False)[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            return self.unknown(key, nearest(key, valid, cutoff=0.6))
        reason = first["msg"].removeprefix("Value error, ")
        return self.error(key, f"{self.name(key)} = {first['input']!r}: {reason[:1].lower()}{reason[1:]}")


def nearest(key: str, valid: Iterable[str], cutoff: float) -> str | None:
    """The valid name most like ``key``, None when none is at least ``cutoff`` (0 to 1) like it."""
    return next(iter(difflib.get_close_matches(key, list(valid), n=1, cutoff=cutoff)), None)
