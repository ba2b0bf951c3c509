"""``cogvault supersede``: one card takes the place of another."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "supersede",
    cls=ExampleCommand,
    examples=("cogvault supersede project_old-queue.md project_queue.md --tenant ~/agent/memory",),
)
@click.argument("old")
@click.argument("new")
@shared_options()
def command(shared: Shared, old: str, new: str) -> None:
    """Say that one card takes the place of another.

    OLD is kept, is valid until NEW is, ranks below NEW and is labelled in answers; `search --as-of` still finds it for
    the time when it held.
    """
    with shared.open() as vault:
        result = vault.supersede(old, new)
    if shared.as_json:
        print_json({"status": "ok", **result.to_dict()})
    else:
        from cogvault_cli.views.written import print_written

        print_written(make_console(), result)
