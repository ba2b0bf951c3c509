"""``cogvault restore``: a card comes back from the archive."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import tell_written


@click.command(
    "restore",
    cls=ExampleCommand,
    examples=(
        "cogvault restore project_old-queue.md --tenant ~/agent/memory",
        "cogvault restore project_old-queue.md --version 1",
    ),
)
@click.argument("id")
@option("--version", type=click.IntRange(1), metavar="N", help="Which of several; default: the last archived.")
@shared_options()
def command(shared: Shared, id: str, version: int | None) -> None:
    """Bring a card back from the archive.

    ID is the path or address that it had; `ls --archived` lists the archive. The card gets its old place, byte for
    byte. A card that is there by now is never replaced.
    """
    with shared.open() as vault:
        result = vault.restore(id, version)
    tell_written(result, as_json=shared.as_json)
