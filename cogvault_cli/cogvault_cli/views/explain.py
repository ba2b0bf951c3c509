"""Why a hit ranked where it did, and how an answer was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, bar, put

if TYPE_CHECKING:
    from cogvault import Hit, Hits

BAR_WIDTH = 24


def print_parts(console: Console, hit: Hit, indent: int) -> None:
    """One line a part: layer, name, its own value, what it adds to the score, and that as a share of the score."""
    layers = max((len(part.layer) for part in hit.parts), default=0)
    names = max((len(part.name) for part in hit.parts), default=0)
    for part in hit.parts:
        style = "red" if part.contribution < 0 else "green"
        share = abs(part.contribution) / max(hit.score, 1e-9)
        put(
            console,
            (f"{'':{indent}}{part.layer:<{layers}}  {part.name:<{names}}  {part.value:5.2f}  ", DIM),
            f"{part.contribution:+.3f}  ",
            (bar(share, BAR_WIDTH, ascii_only=console.options.ascii_only).rstrip(), style),
        )


def print_trace(console: Console, hits: Hits) -> None:
    """The words that were searched, the filter, the rung that was reached, and what each step left, with its time."""
    trace = hits.trace
    put(console, ("\nhow it was found", "bold"))
    facts = {"words": " ".join(trace.terms), "filter": trace.filter or "all cards", "rung": trace.rung}
    for name, value in facts.items():
        put(console, (f"    {name:<8}", DIM), printable(value))
    width = max((len(stage.name) for stage in trace.stages), default=0)
    for stage in trace.stages:
        put(console, (f"    {stage.name:<{width}}  {stage.count:>7}  {stage.ms:>8.1f} ms", DIM))
    for note in trace.notes:
        put(console, (printable(f"    {note}"), "yellow"))
