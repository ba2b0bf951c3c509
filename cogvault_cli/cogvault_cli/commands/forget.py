"""``cogvault forget``: a card goes to the archive, or for good."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import UsageFault
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "forget",
    cls=ExampleCommand,
    examples=(
        "cogvault forget project_old-queue.md --tenant ~/agent/memory",
        "cogvault forget project_old-queue.md --purge",
        "cogvault forget project_old-queue.md --purge --archived",
    ),
)
@click.argument("id")
@option("--purge/--no-purge", default=False, help="Delete it for good: file, index rows, vectors, caches.")
@option("--archived/--no-archived", default=False, help="With --purge: delete what is in the archive.")
@shared_options()
def command(shared: Shared, id: str, purge: bool, archived: bool) -> None:
    """Move a card to the archive, or delete it.

    ID is the card's path in the vault, or its address. The archive is the vault's folder `.archive`, out of search;
    `ls --archived` lists it and `restore` brings a card back, byte for byte.
    """
    if archived and not purge:
        raise UsageFault("what is in the archive is forgotten already", "say --purge as well to delete it for good")
    with shared.open() as vault:
        result = vault.purge(id) if archived else vault.forget(id, purge=purge)
    if shared.as_json:
        print_json({"status": "ok", **result.to_dict()})
    else:
        from cogvault_cli.views.written import print_written

        print_written(make_console(), result)
