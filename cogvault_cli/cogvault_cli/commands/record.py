"""``cogvault record``: write a card."""

from __future__ import annotations

from typing import Any

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import UsageFault
from cogvault_cli.inputs import Pair, as_text, standard_input
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "record",
    cls=ExampleCommand,
    examples=(
        'cogvault record "Deploys go out on Tuesday." --tag ops --tenant ~/agent/memory',
        "cogvault record --title 'Release steps' --type reference",
        'cogvault record "Ana likes tea." --to cogvault://user/ana/',
    ),
)
@click.argument("text", required=False)
@option("--title", metavar="TEXT", help="Its title; default: the first heading or words of the text.")
@option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
@option("--description", metavar="TEXT", help="What it says, in a line; default: taken from the text.")
@option("--to", metavar="PLACE", help="Folder, path or address to write to.")
@option("--importance", type=float, metavar="N", help="From 0 to 1.")
@option("--pinned/--no-pinned", default=None, help="It never ages and is never swept.")
@option("--valid-from", metavar="DATE", help="When it begins to hold.")
@option("--valid-until", metavar="DATE", help="When it ceases to hold.")
@option("--source", metavar="TEXT", help="Where it comes from.")
@option("--meta", type=Pair(), multiple=True, metavar="KEY=VALUE", help="Another frontmatter key; repeatable.")
@option("--redact/--no-redact", default=False, help="Mask what looks like a secret.")
@shared_options()
def command(shared: Shared, text: str | None, meta: tuple[tuple[str, Any], ...], **given: Any) -> None:
    """Write a card, and say what is like it.

    TEXT is the card's text; without it standard input is read. Frontmatter at the top of it is kept and completed. A
    text that a card has already is not written again. `--type` is the card's type: user, feedback, project, reference
    or any word. Values of `--meta` are read as those of `cogvault update --set`.
    """
    if len(shared.types) > 1:
        raise UsageFault("a card has one type", "say --type once")
    content = standard_input() if text is None else as_text(text)
    with shared.open() as vault:
        result = vault.record(content, type=next(iter(shared.types), None), meta=dict(meta), **given)
    if shared.as_json:
        print_json({"status": "ok", **result.to_dict()})
    else:
        from cogvault_cli.views.written import print_written

        print_written(make_console(), result)
