"""``cogvault history``: the versions of a fact."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "history",
    cls=ExampleCommand,
    examples=(
        "cogvault history project_queue.md --tenant ~/agent/memory",
        "cogvault history project_queue.md --json",
    ),
)
@click.argument("id")
@shared_options()
def command(shared: Shared, id: str) -> None:
    """Tell all versions of the fact that a card tells.

    What it superseded comes before it, and what superseded it behind. ID is the card's path in the vault, or its
    address. Each line says from and until when a version holds, its card, its title, and whether it holds now. Changed
    files are looked for first.
    """
    with shared.open() as vault:
        versions = vault.history(id)
    if shared.as_json:
        print_json({"status": "ok", "versions": [version.to_dict() for version in versions]})
    else:
        from cogvault_cli.views.listing import print_history

        print_history(make_console(), versions)
