"""A sweep for people: every card with its strength, what becomes of it, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put

if TYPE_CHECKING:
    from cogvault.types import SweepItem, SweepReport


def print_sweep(console: Console, report: SweepReport) -> None:
    """One line a card, weakest first, then what to do."""
    for item in report.items:
        said, style = _fate(item)
        put(
            console,
            f"{item.card.strength:.2f}  ",
            (f"{said:<8}", style),
            f"  {printable(item.card.id)}",
            (f"  {printable(item.reason)}", DIM),
        )
    for problem in report.problems:
        put(console, (f"{printable(problem.path)}: {printable(problem.message)}", "yellow"))
    count, total = len(report.weak), len(report.items)
    if report.applied:
        put(console, f"{sum(item.action is not None for item in report.items)} of {total} cards forgotten")
    else:
        put(console, f"{count} of {total} cards would be archived", (" (--apply does it)" if count else "", DIM))


def _fate(item: SweepItem) -> tuple[str, str]:
    if item.action is not None:
        return item.action.value, "yellow"
    return ("weak", "yellow") if item.verdict == "weak" else ("kept", "green")
