"""A watcher for people and programs: a picture that stays up to date, lines, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cogvault_cli.output import make_console, printable
from cogvault_cli.views.marks import DIM, put, state
from cogvault_cli.views.sync import duration

if TYPE_CHECKING:
    from cogvault import SyncReport, Watcher

Show: TypeAlias = "Callable[[SyncReport], None]"

SHOWN_ERRORS = 5
SHOWN_NAMES = 3


@contextmanager
def make_view(watcher: Watcher, folder: str, *, as_json: bool) -> Iterator[Show]:
    """What is to be called with each report: drawn on a terminal, printed elsewhere."""
    console = make_console()
    if as_json:
        _print_json({"event": "watching", "path": folder, "mode": watcher.mode, "reason": watcher.reason})
        yield lambda report: _print_json({"event": "sync", **report.to_dict()})
        _print_json({"event": "stopped"})
    elif console.is_terminal:
        with Live(get_renderable=lambda: picture(watcher, folder), console=console, refresh_per_second=4):
            yield lambda _: None
    else:
        _print_line(console, Text(_opening(watcher, folder)))
        yield lambda report: _print_line(console, line(report))
        _print_line(console, Text("stopped"))


def picture(watcher: Watcher, folder: str) -> Group:
    """The state of a watcher in a few lines."""
    lines = [
        Text(_opening(watcher, folder), style="bold"),
        Text(f"  events     {watcher.events:,}"),
        Text(f"  queue      {watcher.queued:,}"),
        Text("  last sync  ").append(line(watcher.last_report) if watcher.last_report else "running"),
        *(Text(printable(f"  error      {error}"), style="red") for error in watcher.errors[-SHOWN_ERRORS:]),
        Text("  Ctrl-C ends it", style=DIM),
    ]
    return Group(*lines)


def line(report: SyncReport) -> Text:
    """A report in one line: counts with the first names, time, and what is wrong."""
    groups = {
        "added": report.added,
        "changed": report.changed,
        "moved": tuple(f"{old} → {new}" for old, new in report.moved),
        "removed": report.removed,
        "failed": tuple(problem.path for problem in report.failed),
    }
    said = [f"{len(names)} {word} ({_names(names)})" for word, names in groups.items() if names]
    said += [f"{report.embedded} vectors"] if report.embedded else []
    said += [f"{report.pending_vectors} pending"] if report.pending_vectors else []
    text = Text(printable(", ".join(said) or "nothing changed")).append(f" in {duration(report.seconds)}", style=DIM)
    return text if not report.reason else text.append("; ").append(state(report.status, report.reason, report.hint))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names[:SHOWN_NAMES]) + (", …" if len(names) > SHOWN_NAMES else "")


def _opening(watcher: Watcher, folder: str) -> str:
    return printable(f"watching {folder} by {watcher.mode}" + (f": {watcher.reason}" if watcher.reason else ""))


def _print_line(console: Console, text: Text) -> None:
    put(console, text)
    console.file.flush()


def _print_json(document: dict[str, object]) -> None:
    click.echo(json.dumps(document, allow_nan=False))
