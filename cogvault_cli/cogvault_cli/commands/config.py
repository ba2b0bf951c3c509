"""``cogvault config``: every setting and where its value comes from."""

from __future__ import annotations

import os

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "config",
    cls=ExampleCommand,
    examples=("cogvault config --tenant ~/agent/memory", "cogvault config --json | jq .settings.model"),
)
@shared_options()
def command(shared: Shared) -> None:
    """Show every setting and where its value comes from.

    A value comes from an option, else from COGVAULT_<KEY> in the environment, else from `.cogvault.toml` in the
    vault, else it is the default. Without a vault its file is left out.
    """
    from cogvault.config import resolve

    if shared.tenant is None:
        resolved = resolve(None, shared.config(), os.environ)
    else:
        with shared.open_here() as vault:
            resolved = vault.resolved
    values = resolved.config.model_dump(mode="json")
    settings = {key: {"value": value, "origin": resolved.origins[key]} for key, value in values.items()}
    if shared.as_json:
        print_json({"status": "ok", "settings": settings})
    else:
        from cogvault_cli.views.settings import print_settings

        print_settings(make_console(), settings)
