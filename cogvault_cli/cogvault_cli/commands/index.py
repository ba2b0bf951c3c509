"""``cogvault index``: make the index equal to the files."""

from __future__ import annotations

from pathlib import Path

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE, UNUSABLE
from cogvault_cli.options import Folder, Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "index",
    cls=ExampleCommand,
    examples=(
        "cogvault index ~/agent/memory",
        "cogvault index ~/obsidian --recursive --ignore 'templates/' --ignore '*.excalidraw.md'",
    ),
)
@click.argument("folder", metavar="[DIR]", type=Folder(), required=False)
@option(
    "--verify/--no-verify",
    default=False,
    help="Read and hash every file instead of trusting size and time; check the index row by row, and make it anew "
    "when it has a fault; give cards up that are gone together with their folder.",
)
@shared_options()
def command(shared: Shared, folder: Path | None, verify: bool) -> int:
    """Make the index equal to the files.

    Everything is searchable by keyword within seconds; vectors follow, and a run that was stopped goes on where it
    was. Nothing is written into the vault. DIR is the same as `--tenant DIR`.
    """
    shared = shared if folder is None else shared.at(folder)
    with shared.open_here() as vault:
        if shared.as_json:
            report = vault.sync(verify=verify)
            print_json(report.to_dict())
        else:
            from cogvault_cli.views.sync import print_report, progress_bars

            with progress_bars(make_console(error=True)) as progress:
                report = vault.sync(verify=verify, progress=progress)
            print_report(make_console(), report, str(shared.folder()))
    # Another process was at it, or nothing could be written: the index is not equal to the files.
    return UNUSABLE if report.status in ("stale", "failed") else DONE
