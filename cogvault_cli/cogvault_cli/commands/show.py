"""``cogvault show``: print a card."""

from __future__ import annotations

import re
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from cogvault.errors import PathError
from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json, printable

if TYPE_CHECKING:
    from cogvault import CardText, Vault
    from cogvault.client import RemoteVault

_CITED = re.compile(r"(?P<id>.+?)(?:#L(?P<first>\d+)(?:-L?(?P<last>\d+))?|:\d+)")


class Lines(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 only
    """``10-24`` or ``10``: lines of a file, 1-based, both included."""

    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Text to first and last line."""
        match = re.fullmatch(r"L?(\d{1,9})(?:-L?(\d{1,9}))?", str(value))
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            self.fail(f"{value!r} is not a range of lines such as 10-24", param, ctx)
        return first, last


@click.command(
    "show",
    cls=ExampleCommand,
    examples=(
        "cogvault show project_queue-on-postgres.md --tenant ~/agent/memory",
        "cogvault show 'project_queue-on-postgres.md#L16-L22'",
    ),
)
@click.argument("id")
@option("--lines", type=Lines(), metavar="A-B", help="Only these lines of the file.")
@shared_options()
def command(shared: Shared, id: str, lines: tuple[int, int] | None) -> None:
    """Print a card, or some of its lines.

    ID is the card's path in the vault; a place as `search` prints it (`notes/card.md:12`, `card.md#L10-L24`) will
    do too. On a terminal the Markdown is rendered, elsewhere the file's text comes as it is. Lines behind the end of
    the file are no error: there are none, and how many the file has is said.
    """
    with shared.open() as vault:
        card = _read(vault, id, lines, shared.folder())
    is_behind = card.lines[0] > max(1, card.total_lines)
    if shared.as_json:
        print_json(
            {
                "status": "empty" if is_behind else "ok",
                "id": card.id,
                "lines": card.lines,
                "total_lines": card.total_lines,
                "hash": card.hash,
                "text": card.text,
            }
        )
    elif is_behind:
        click.echo(f"{printable(card.id)} has {card.total_lines} lines", err=True)
    elif (console := make_console()).is_terminal:
        from cogvault_cli.views.card import print_card

        print_card(console, card)
    else:
        sys.stdout.write(card.text)


def _read(vault: Vault | RemoteVault, id: str, lines: tuple[int, int] | None, folder: PurePath) -> CardText:
    """The card of this id; a name that is none is read as a place that a search printed."""
    try:
        return vault.read(id, lines)
    except PathError:
        cited = _CITED.fullmatch(id)
        name = cited["id"] if cited else id
        if cited and cited["first"] and lines is None:
            lines = int(cited["first"]), int(cited["last"] or cited["first"])
        below = PurePath(name)
        if below.is_relative_to(folder):
            name = below.relative_to(folder).as_posix()
        if name == id:
            raise
        return vault.read(name, lines)
