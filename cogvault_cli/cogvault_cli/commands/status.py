"""``cogvault status``: what the index holds and what is wrong."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.failures import DONE, UNUSABLE
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "status",
    cls=ExampleCommand,
    examples=("cogvault status --tenant ~/agent/memory", "cogvault status --json | jq .pending"),
)
@shared_options()
def command(shared: Shared) -> int:
    """Say what the index holds and what is wrong.

    Nothing is changed: files that were edited since the last sync show up after `cogvault index` or a search.
    """
    with shared.open() as vault:
        status = vault.status()
    if shared.as_json:
        print_json(status.to_dict())
    else:
        from cogvault_cli.views.status import print_status

        print_status(make_console(), status)
    return UNUSABLE if status.status == "failed" else DONE
