"""``cogvault layers``: a card or a folder in few words, and folders' words as files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE, UNUSABLE, UsageFault
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json, printable

if TYPE_CHECKING:
    from cogvault.types import LayerFilesReport


@click.command(
    "layers",
    cls=ExampleCommand,
    examples=(
        "cogvault layers --tenant ~/agent/memory",
        "cogvault layers project_queue-on-postgres.md --tenant ~/agent/memory",
        "cogvault layers --export --tenant ~/agent/memory",
    ),
)
@click.argument("path", default="")
@option("--export", "step", flag_value="export", help="Write .abstract.md and .overview.md beside each folder's cards.")
@option("--import", "step", flag_value="import", help="Take what people wrote into those files as the layers from now.")
@shared_options()
def command(shared: Shared, path: str, step: str | None) -> int:
    """Print the abstract and overview of a card or a folder.

    PATH is a card's path in the vault, or a folder's; without it the whole vault is told. Changed files are looked for
    first. With `--export` or `--import` nothing is printed but what was done: texts that people wrote are never
    written over, and are the layers of their folder until one of its cards changes.
    """
    if step is not None:
        if path:
            raise UsageFault(f"`--{step}` is for the whole vault", "leave out the path")
        with shared.open() as vault:
            report = vault.layers.export() if step == "export" else vault.layers.import_edits()
        _print_report(report, shared.as_json)
        return UNUSABLE if report.problems else DONE
    with shared.open() as vault:
        layers = vault.layers(path)
    if shared.as_json:
        print_json({"status": "ok", "id": path, "abstract": layers.abstract, "overview": layers.overview})
    elif (console := make_console()).is_terminal:
        from cogvault_cli.views.layers import print_layers

        print_layers(console, path or ".", layers)
    else:
        sys.stdout.write("\n\n".join(text for text in (layers.abstract, layers.overview) if text) + "\n")
    return DONE


def _print_report(report: LayerFilesReport, as_json: bool) -> None:
    if as_json:
        print_json({"status": "failed" if report.problems else "ok", **report.to_dict()})
        return
    lines = [f"{len(report.written)} written, {report.unchanged} unchanged, {len(report.removed)} removed"]
    lines += [f"edited by a person, kept: {path}" for path in report.edited]
    lines += [f"edited by a person, but cards changed since: {path}" for path in report.outdated]
    lines += [f"{problem.path}: {problem.message}" for problem in report.problems]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
