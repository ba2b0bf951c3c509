"""Why a hit ranked where it did, and how an answer was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, bar

if TYPE_CHECKING:
    from cogvault import Hit, Hits

BAR_WIDTH = 24


def print_parts(console: Console, hit: Hit, indent: int) -> None:
    """One line a part: layer, name, its own value, what it adds to the score, and that as a share of the score."""
    layers = max((len(part.layer) for part in hit.parts), default=0)
    names = max((len(part.name) for part in hit.parts), default=0)
    for part in hit.parts:
        line = Text(f"{'':{indent}}{part.layer:<{layers}}  {part.name:<{names}}  {part.value:5.2f}  ", DIM)
        loses = part.contribution < 0
        line.append(f"{part.contribution:+.3f}  ", "red" if loses else "default")
        share = abs(part.contribution) / max(hit.score, 1e-9)
        line.append(bar(share, BAR_WIDTH, ascii_only=console.options.ascii_only).rstrip(), "red" if loses else "green")
        line.rstrip()
        console.print(line, soft_wrap=True)


def print_trace(console: Console, hits: Hits) -> None:
    """The words that were searched, the filter, the rung that was reached, and what each step left, with its time."""
    trace = hits.trace
    console.print(Text("\nhow it was found", "bold"))
    facts = {"words": " ".join(trace.terms), "filter": trace.filter or "all cards", "rung": trace.rung}
    for name, value in facts.items():
        console.print(Text(f"    {name:<8}", DIM) + Text(printable(value)), soft_wrap=True)
    width = max((len(stage.name) for stage in trace.stages), default=0)
    for stage in trace.stages:
        console.print(Text(f"    {stage.name:<{width}}  {stage.count:>7}  {stage.ms:>8.1f} ms", DIM), soft_wrap=True)
    for note in trace.notes:
        console.print(Text(printable(f"    {note}"), "yellow"), soft_wrap=True)
