"""``cogvault move``: another name or folder for a card."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import tell_written


@click.command(
    "move",
    cls=ExampleCommand,
    examples=(
        "cogvault move project_queue.md project_jobs.md --tenant ~/agent/memory",
        "cogvault move project_queue.md cogvault://resources/decisions/",
    ),
)
@click.argument("id")
@click.argument("new")
@shared_options()
def command(shared: Shared, id: str, new: str) -> None:
    """Give a card another name or folder, its links with it.

    ID is the card's path in the vault, or its address. NEW is a path or address that ends in `.md`, or a folder, in
    which the card keeps its name. Every link that led to the card leads to it afterwards, and cards whose links could
    not be rewritten are listed. A place that is taken is refused.
    """
    with shared.open() as vault:
        result = vault.move(id, new)
    tell_written(result, as_json=shared.as_json)
