"""Why a hit ranked where it did, and how an answer was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, bar, put

if TYPE_CHECKING:
    from cogvault import Hit, Hits

BAR_WIDTH = 24
ORDER_STYLE = "blue"


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that all hits of an answer share, so that their bars stand below each other and can be compared.

    Attributes:
        layers: width of the longest layer.
        names: width of the longest name.
        most: the largest contribution, which fills a bar.
    """

    layers: int
    names: int
    most: float

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Columns:
        """Columns for the parts of these hits."""
        parts = [part for hit in hits for part in hit.parts]
        return cls(
            max((len(part.layer) for part in parts), default=0),
            max((len(part.name) for part in parts), default=0),
            max((abs(part.contribution) for part in parts), default=0.0),
        )


def print_parts(console: Console, hit: Hit, indent: int, columns: Columns) -> None:
    """One line a part: layer, name, its own value, what it adds to the score, and that as a bar.

    What only orders hits (``rerank``) adds nothing; its bar is its value.
    """
    if hit.parts:
        head = f"{'':{indent}}{'part':<{columns.layers + columns.names + 2}}  value    adds"
        put(console, (head, DIM))
    for part in hit.parts:
        share, style = abs(part.contribution) / max(columns.most, 1e-9), "red" if part.contribution < 0 else "green"
        if part.layer == "order":
            share, style = part.value, ORDER_STYLE
        put(
            console,
            (f"{'':{indent}}{part.layer:<{columns.layers}}  {part.name:<{columns.names}}  {part.value:5.2f}  ", DIM),
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
