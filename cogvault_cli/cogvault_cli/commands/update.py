"""``cogvault update``: change a card."""

from __future__ import annotations

from typing import Any

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.inputs import Pair, standard_input
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import tell_written

_STDIN = "-"


@click.command(
    "update",
    cls=ExampleCommand,
    examples=(
        "cogvault update project_queue.md --set importance=0.8 --set tags=queue,ops --tenant ~/agent/memory",
        "cogvault update project_queue.md --section 'Open items' --append '- ask Mara'",
        "cogvault update project_queue.md --body - --base-hash HASH",
    ),
)
@click.argument("id")
@option("--body", metavar="TEXT", help="New text of the body, or of --section; - reads standard input.")
@option("--section", metavar="HEADING", help="Change the text below this heading only.")
@option("--append", metavar="TEXT", help="Text for the end of the body or section; - reads standard input.")
@option("--set", "values", type=Pair(), multiple=True, metavar="KEY=VALUE", help="Set a frontmatter key; repeatable.")
@option("--unset", multiple=True, metavar="KEY", help="Take a frontmatter key away; repeatable.")
@option("--base-hash", metavar="HASH", help="Refuse when the card has another hash by now (see show --json).")
@option("--redact/--no-redact", default=False, help="Mask what looks like a secret in the new text.")
@shared_options()
def command(
    shared: Shared,
    id: str,
    body: str | None,
    append: str | None,
    values: tuple[tuple[str, Any], ...],
    **given: Any,
) -> None:
    """Change a card's text or its frontmatter, and nothing that is not named.

    ID is the card's path in the vault, or its address. A heading that is missing or stands twice, and frontmatter that
    cannot be read, are refused with the card as it was. A value of --set is text, but for true, false, plain numbers
    (0.8, not 1.10), and lists, objects and quoted text of JSON: --set version='"2"'.
    """
    body, append = (standard_input() if text == _STDIN else text for text in (body, append))
    with shared.open() as vault:
        result = vault.update(id, body=body, append=append, set=dict(values), **given)
    tell_written(result, as_json=shared.as_json)
