"""What commands that write take: pairs of key and value, and text from standard input."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from cogvault_cli.failures import UsageFault


class Pair(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 only
    """``KEY=VALUE``; a value that is JSON is read as such."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Text to key and value."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not key or not equals:
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        try:
            return key, json.loads(text)
        except ValueError:
            return key, text


def as_text(argument: str) -> str:
    """An argument that is text and no path, as UTF-8 where it is that, whatever the locale says."""
    try:
        return os.fsencode(argument).decode()
    except UnicodeError:
        return argument


def standard_input() -> str:
    """Standard input as UTF-8, whatever the locale says."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageFault("standard input is not UTF-8", "convert it first") from error
