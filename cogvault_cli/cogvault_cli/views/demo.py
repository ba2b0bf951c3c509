"""The demo for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cogvault.types import Status
from cogvault_cli.views.hits import print_hit
from cogvault_cli.views.marks import DIM, put, state
from cogvault_cli.views.sync import duration

if TYPE_CHECKING:
    from cogvault import Hits, SyncReport, VaultStatus
    from cogvault_cli.example import Question

NEXT_STEPS = (
    ("cogvault index ~/notes", "any folder of Markdown"),
    ("cogvault search 'how do we deploy' --tenant ~/notes", "--explain shows why"),
    ("cogvault --help", "everything else"),
)


def print_start(console: Console, status: VaultStatus, report: SyncReport) -> None:
    """What was indexed, with which model, how fast."""
    put(console, ("The example vault", "bold"), (f"  {status.path}, removed at the end", DIM))
    keyword = duration(report.keyword_seconds)
    put(console, (f"{status.cards} cards, {status.chunks} chunks, searchable by keyword after {keyword}", DIM))
    if status.vectors:
        put(console, (f"{status.vectors} vectors of model {status.model} after {duration(report.seconds)}", DIM))
    if report.status is not Status.OK:
        put(console, state(report.status, report.reason, report.hint))


def print_answer(console: Console, question: Question, hits: Hits, *, is_right: bool) -> None:
    """A question, its best hit, and whether that is the card it should be."""
    console.print()
    put(console, (question.text, "bold cyan"), (f"  {question.language}", DIM))
    for hit in hits:
        print_hit(console, hit, "1", None)
    if not len(hits):
        put(console, ("    no card answers this", "green" if is_right else "red"))
    if not is_right:
        expected = f"expected {question.card}" if question.card else "expected nothing: no card answers this"
        put(console, (f"    {expected}", "red"))


def print_end(console: Console, right: int, total: int) -> None:
    """How many answers were as expected, and what to try next."""
    console.print()
    put(console, (f"{right} of {total} as expected", "green" if right == total else "red"))
    put(console, ("\nTry next", "bold"))
    width = max(len(line) for line, _ in NEXT_STEPS)
    for line, remark in NEXT_STEPS:
        put(console, (f"  {line:<{width}}  ", "cyan"), (f"# {remark}", DIM))
