"""``cogvault supersede``: one card takes the place of another."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import tell_written


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
    tell_written(result, as_json=shared.as_json)
