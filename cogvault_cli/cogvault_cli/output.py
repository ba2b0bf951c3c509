"""Standard output: one JSON document for programs, or a console for people."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from cogvault.types import WriteResult

# Wide enough that nothing is wrapped or cut when a program reads the output.
UNLIMITED_WIDTH = 100_000
# A card may hold escape sequences; shown raw they could repaint the terminal or type for its user.
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def json_text(document: object) -> str:
    """A JSON document that any standard output can carry."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(document, ensure_ascii=not unicode, allow_nan=False, indent=2)


def print_json(document: object) -> None:
    """Write the one document of a ``--json`` command."""
    click.echo(json_text(document))


def tell_written(result: WriteResult, *, as_json: bool) -> None:
    """What became of a card: as the one document of ``--json``, or for people."""
    if as_json:
        print_json({"status": "ok", **result.to_dict()})
    else:
        from cogvault_cli.views.written import print_written

        print_written(make_console(), result)


def printable(text: str) -> str:
    """Text of a card or file name without control characters, newlines and tabs excepted."""
    return text.translate(_CONTROLS)


def make_console(*, error: bool = False) -> Console:
    """A console for people: colors and wrapping on a terminal, plain unwrapped text elsewhere.

    Args:
        error: write to standard error.
    """
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process with exit code 1, which means findings here.
            raise BrokenPipeError

    console = PipedConsole(stderr=error, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = UNLIMITED_WIDTH
    return console
