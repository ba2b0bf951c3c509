"""A sync for people: bars while it runs, a table of what it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put, state

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogvault import SyncProgress, SyncReport
    from cogvault.types import Problem

UNITS = {"keyword": "cards", "vectors": "chunks", "summaries": "cards"}
ASKING = {"vectors": "loading the model", "summaries": "asking the model"}
SHOWN_PROBLEMS = 20


@contextmanager
def progress_bars(console: Console) -> Iterator[Callable[[SyncProgress], None] | None]:
    """A callback for ``Vault.sync`` that draws one bar a stage, gone when done; None where nobody sees it."""
    if not console.is_terminal:
        yield None
        return
    columns = (
        SpinnerColumn(finished_text=" "),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}", style=DIM),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(step: SyncProgress) -> None:
            if step.stage not in tasks:
                tasks[step.stage] = bars.add_task(step.stage, total=step.total, pace="")
            bars.update(tasks[step.stage], completed=step.done, total=step.total, pace=pace(step))

        yield show


def pace(step: SyncProgress) -> str:
    """Speed of a stage, and the time left while there is some; "" before anything is known."""
    if step.stage == "scan" or step.seconds <= 0:
        return ""
    if not step.done:
        return ASKING.get(step.stage, "")
    speed = step.done / step.seconds
    left = (step.total - step.done) / speed
    return f"{speed:,.0f} {UNITS[step.stage]}/s" + (f", {duration(left)} left" if left > 0 else "")


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(0.42), duration(75), duration(7300)
    ('0.4 s', '1:15 min', '2:01 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02} h"


def print_report(console: Console, report: SyncReport, folder: str) -> None:
    """What a sync did: counts, then files that are not in order."""
    put(console, (printable(folder), "bold"), (f"  synced in {duration(report.seconds)}", DIM))
    counts = {
        "added": len(report.added),
        "changed": len(report.changed),
        "moved": len(report.moved),
        "removed": len(report.removed),
        "unchanged": report.unchanged,
        "failed": len(report.failed),
        "vectors": report.embedded,
        "pending": report.pending_vectors,
    }
    # Nobody is told of a language model who has none.
    counts |= {"summaries": report.summarized} if report.summarized or report.pending_summaries else {}
    width = max(len(f"{count:,}") for count in counts.values())
    for name, count in counts.items():
        style = DIM if not count else "red" if name == "failed" else "default"
        put(console, (f"  {name:<9}  {count:>{width},}", style), (_remark(name, report), DIM))
    print_problems(console, "not indexed", report.failed)
    print_problems(console, "worth a look", report.problems)
    if report.reason:
        console.print()
    put(console, state(report.status, report.reason, report.hint))


def print_problems(console: Console, title: str, problems: Iterable[Problem]) -> None:
    """Files with what is wrong, at most ``SHOWN_PROBLEMS`` of them."""
    every = list(problems)
    if not every:
        return
    put(console, (f"\n{title}", "bold"))
    for problem in every[:SHOWN_PROBLEMS]:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        put(console, (printable(f"  {place}"), "cyan"), printable(f"  {problem.message}"))
    if len(every) > SHOWN_PROBLEMS:
        put(console, (f"  and {len(every) - SHOWN_PROBLEMS} more; --json lists all", DIM))


def _remark(name: str, report: SyncReport) -> str:
    if name == "added" and report.added:
        return f"  searchable by keyword after {duration(report.keyword_seconds)}"
    if name == "moved" and report.moved:
        old, new = report.moved[0]
        return printable(f"  {old} → {new}{' …' if len(report.moved) > 1 else ''}")
    if name == "vectors" and report.embedded and report.seconds > report.keyword_seconds:
        return f"  {report.embedded / (report.seconds - report.keyword_seconds):,.0f} chunks/s"
    if name == "summaries" and report.pending_summaries:
        return f"  {report.pending_summaries:,} cards wait for the model"
    return "  chunks without a vector yet" if name == "pending" and report.pending_vectors else ""
