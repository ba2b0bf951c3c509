"""The demo for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cogvault.types import Status
from cogvault_cli.views.hits import print_hit
from cogvault_cli.views.marks import CONFIDENCE_STYLES, DIM, state
from cogvault_cli.views.sync import duration

if TYPE_CHECKING:
    from cogvault import Hits, SyncReport, VaultStatus
    from cogvault_cli.example import Question

NEXT_STEPS = (
    ("cogvault index ~/notes", "any folder of Markdown: agent memory, an Obsidian vault, docs"),
    ("cogvault search 'how do we deploy' --tenant ~/notes", "add --explain to see why a hit ranks where it does"),
    ("cogvault --help", "everything else"),
)


def print_start(console: Console, status: VaultStatus, report: SyncReport) -> None:
    """What was indexed, with which model, how fast."""
    console.print(Text("The example vault", "bold") + Text(f"  {status.path}, removed at the end", DIM), soft_wrap=True)
    keyword = f"searchable by keyword after {duration(report.keyword_seconds)}"
    model = f"{status.vectors} vectors of model {status.model} after {duration(report.seconds)}"
    facts = f"{status.cards} cards, {status.chunks} chunks, {keyword}" + (f", {model}" if status.vectors else "")
    console.print(Text(facts, DIM), soft_wrap=True)
    if report.status is not Status.OK:
        console.print(state(report.status, report.reason, report.hint), soft_wrap=True)


def print_answer(console: Console, question: Question, hits: Hits, *, is_right: bool) -> None:
    """A question, its best hit, and whether that is the card it should be."""
    console.print()
    console.print(Text(question.text, "bold cyan") + Text(f"  {question.language}", DIM), soft_wrap=True)
    for hit in hits:
        print_hit(console, hit, "1", None)
    if not len(hits):
        console.print(Text("    no card answers this", CONFIDENCE_STYLES["high"] if is_right else "red"))
    if not is_right:
        expected = f"expected {question.card}" if question.card else "expected nothing: no card answers this"
        console.print(Text(f"    {expected}", "red"), soft_wrap=True)


def print_end(console: Console, right: int, total: int) -> None:
    """How many answers were as expected, and what to try next."""
    console.print()
    console.print(Text(f"{right} of {total} as expected", "green" if right == total else "red"))
    console.print(Text("\nTry next", "bold"))
    width = max(len(line) for line, _ in NEXT_STEPS)
    for line, remark in NEXT_STEPS:
        console.print(Text(f"  {line:<{width}}  ", "cyan") + Text(f"# {remark}", DIM), soft_wrap=True)
