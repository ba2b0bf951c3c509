"""``cogvault layers``: a card or a folder in few words."""

from __future__ import annotations

import sys

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "layers",
    cls=ExampleCommand,
    examples=(
        "cogvault layers --tenant ~/agent/memory",
        "cogvault layers project_queue-on-postgres.md --tenant ~/agent/memory",
    ),
)
@click.argument("path", default="")
@shared_options()
def command(shared: Shared, path: str) -> None:
    """Print the abstract and overview of a card or a folder.

    PATH is a card's path in the vault, or a folder's; without it the whole vault is told. Changed files are looked for
    first.
    """
    with shared.open() as vault:
        layers = vault.layers(path)
    if shared.as_json:
        print_json({"status": "ok", "id": path, "abstract": layers.abstract, "overview": layers.overview})
    elif (console := make_console()).is_terminal:
        from cogvault_cli.views.layers import print_layers

        print_layers(console, path or ".", layers)
    else:
        sys.stdout.write("\n\n".join(text for text in (layers.abstract, layers.overview) if text) + "\n")
