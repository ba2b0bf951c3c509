"""What commands that write take: pairs of key and value, and text from standard input."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import click

from cogvault_cli.failures import UsageFault

# Numbers that a card's frontmatter is read back as; whatever else looks like one is text there too.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")


class Pair(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 only
    """``KEY=VALUE``: text, but for true, false, plain numbers, and lists, objects and quoted text of JSON."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Text to key and value."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not key or not equals:
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        return key, _value(text)


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text[:1] in ("[", "{", '"'):
        try:
            return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=str)
        except (ValueError, RecursionError):
            return text
    return _number(text)


def _number(text: str) -> Any:
    """A number where it is written with these very characters; ``1.10``, ``007`` and ``12e4`` are text."""
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else text


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


def json_lines() -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects on standard input, one a line, as they come, each with the number of its line."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageFault(
                f"line {number} of standard input is no JSON: {error}", "write one object a line"
            ) from error
        if not isinstance(fields, dict):
            raise UsageFault(f"line {number} of standard input is no object", "write one object a line")
        yield number, fields
