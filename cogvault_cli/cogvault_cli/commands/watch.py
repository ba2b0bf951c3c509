"""``cogvault watch``: keep the index equal to the files while they change."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.failures import DONE
from cogvault_cli.options import Folder, Shared, shared_options


@click.command(
    "watch",
    cls=ExampleCommand,
    examples=("cogvault watch ~/obsidian --recursive", "cogvault watch --json | jq -c .changed"),
)
@click.argument("folder", metavar="[DIR]", type=Folder(), required=False)
@shared_options()
def command(shared: Shared, folder: Path | None) -> int:
    """Keep the index equal to the files while they change.

    Runs until Ctrl-C or SIGTERM. An edit is found by keyword about a second after it was saved; vectors follow. On a
    terminal it shows what it does, elsewhere it prints a line for each change; `--json` prints one JSON document a
    line. Nothing is written into the vault. DIR is the same as `--tenant DIR`.
    """
    from cogvault_cli.views.watch import make_view

    shared = shared if folder is None else shared.at(folder)
    with (
        shared.open_here() as vault,
        _signals() as stop,
        vault.watch() as watcher,
        make_view(watcher, str(shared.folder()), as_json=shared.as_json) as show,
    ):
        for report in watcher.reports(stop):
            show(report)
    return DONE


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set instead of ending the process in the middle of something."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
