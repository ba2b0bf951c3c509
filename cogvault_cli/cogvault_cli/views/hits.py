"""Hits for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cogvault.types import Status
from cogvault_cli.output import printable
from cogvault_cli.views.explain import Columns, print_parts, print_trace
from cogvault_cli.views.highlight import spans
from cogvault_cli.views.marks import CONFIDENCE_STYLES, DIM, bar, put, state

if TYPE_CHECKING:
    from cogvault import Hit, Hits

BAR_WIDTH = 8
INDENT = 4
MATCH = "bold yellow"
LABEL = "black on yellow"


def print_hits(console: Console, hits: Hits, folder: PurePath | None, *, explain: bool = False) -> None:
    """All hits, then what the answer is worth when it is not simply good.

    Args:
        console: where to.
        hits: the answer.
        folder: the vault as it was named: put before each file so that an editor can open the place; None = not put.
        explain: show the parts of each score, the steps of the search, and near misses.
    """
    columns = Columns.of((*hits, *hits.near_misses))
    for rank, hit in enumerate(hits, start=1):
        print_hit(console, hit, f"{rank}", folder)
        if explain:
            print_parts(console, hit, INDENT, columns)
        if rank < len(hits):
            console.print()
    if len(hits) and hits.status is not Status.OK:
        console.print()
    print_worth(console, hits)
    if explain:
        if hits.near_misses:
            put(console, ("\nnearest misses", "bold"))
            for hit in hits.near_misses:
                print_hit(console, hit, "-", folder)
                print_parts(console, hit, INDENT, columns)
        print_trace(console, hits)


def print_answer(console: Console, hits: Hits) -> None:
    """The packed answer and its size, then what it is worth when it is not simply good."""
    if hits.text:
        put(console, printable(hits.text))
        put(console, (f"\n{hits.tokens:,} tokens", DIM))
    print_worth(console, hits)


def print_worth(console: Console, hits: Hits) -> None:
    """That nothing was found, and what the answer is worth when it is not simply good."""
    if not len(hits) and hits.status is not Status.EMPTY:
        put(console, "no card was found")
    if hits.status is not Status.OK:
        put(console, state(hits.status, hits.reason, hits.hint))


def print_hit(console: Console, hit: Hit, rank: str, folder: PurePath | None) -> None:
    """One hit: score and title, place and facts, text."""
    put(console, *_head(console, hit, rank))
    _print_indented(console, _place(hit, folder))
    _print_indented(console, _excerpt(hit))
    if hit.related:
        _print_indented(console, Text(printable(f"see also {', '.join(hit.related[:3])}"), DIM))


def _head(console: Console, hit: Hit, rank: str) -> list[str | tuple[str, str]]:
    style = CONFIDENCE_STYLES.get(hit.confidence, DIM)
    pieces: list[str | tuple[str, str]] = [
        (f"{rank:>2}  ", DIM),
        (bar(hit.score, BAR_WIDTH, ascii_only=console.options.ascii_only), style),
        (f" {hit.score:.2f} {hit.confidence:<6}  ", style),
        (" ".join(printable(hit.title).split()), "bold"),
    ]
    colored = console.color_system is not None and not console.no_color
    for mark in hit.marks:
        pieces += ["  ", (f" {mark} " if colored else f"[{mark}]", LABEL)]
    return pieces


def _place(hit: Hit, folder: PurePath | None) -> Text:
    path = PurePath(hit.file) if folder is None else folder / hit.file
    parent = "" if str(path.parent) == "." else f"{path.parent}/"
    facts = [hit.type or "", " ".join(f"#{tag}" for tag in hit.tags), _date(hit.created, hit.updated)]
    return Text.assemble(
        (printable(parent), DIM),
        (printable(f"{path.name}:{hit.lines[0]}"), "cyan"),
        (printable("".join(f" · {fact}" for fact in facts if fact)), DIM),
    )


def _date(created: datetime | None, updated: datetime | None) -> str:
    """The day of the last word on the matter."""
    if updated is not None and updated != created:
        return f"updated {updated:%Y-%m-%d}"
    return f"{created:%Y-%m-%d}" if created is not None else ""


def _excerpt(hit: Hit) -> Text:
    snippet = printable(hit.snippet)
    line = Text(snippet)
    for start, end in spans(snippet, hit.matched):
        line.stylize(MATCH, start, end)
    return line


def _print_indented(console: Console, text: Text) -> None:
    lines: Iterable[Text] = text.wrap(console, max(console.width - INDENT, 20))
    for line in lines:
        line.rstrip()
        put(console, " " * INDENT, line)
