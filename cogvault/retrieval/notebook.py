"""An answer as a table for a notebook. Pure; whatever comes from files or from the query is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cogvault.retrieval.hits import Hit, Hits, Part, Trace

# A contribution of 1.
BAR_PIXELS = 200
GAIN, PENALTY, ORDER = "#4a7", "#c55", "#57b"
_LEFT = "style='text-align:left'"


def as_html(hits: Hits) -> str:
    """Status, hits with the parts of their scores when they were explained, near misses, and how it was found."""
    pieces = [f"<p>{escape(hits.status.value)}: {escape(hits.reason or hits.trace.query)}</p>", _table(hits.items)]
    is_explained = any(hit.parts for hit in (*hits.items, *hits.near_misses))
    if is_explained and hits.near_misses:
        pieces += ["<p>nearest misses</p>", _table(hits.near_misses)]
    return "".join(pieces) + _trace(hits.trace, is_open=is_explained)


def _table(hits: Sequence[Hit]) -> str:
    explained = any(hit.parts for hit in hits)
    header = "<tr><th>score</th><th>card</th><th>text</th>" + ("<th>parts</th>" if explained else "") + "</tr>"
    return f"<table>{header}{''.join(_row(hit) for hit in hits)}</table>"


def _row(hit: Hit) -> str:
    label = f" <i>{escape(', '.join(hit.marks))}</i>" if hit.marks else ""
    parts = f"<td>{_parts(hit.parts)}</td>" if hit.parts else ""
    return (
        f"<tr><td>{hit.score:.2f}</td>"
        f"<td {_LEFT}><b>{escape(hit.title)}</b>{label}<br><code>{escape(hit.citation)}</code></td>"
        f"<td {_LEFT}>{escape(hit.snippet)}</td>{parts}</tr>"
    )


def _parts(parts: Sequence[Part]) -> str:
    """One line a part: its own value, what it adds to the score, and that as a bar, red when it takes away."""
    rows = "".join(
        f"<tr><td {_LEFT}>{escape(part.layer)} {escape(part.name)}</td><td>{part.value:.2f}</td>"
        f"<td>{part.contribution:+.3f}</td><td {_LEFT}>{_bar(part)}</td></tr>"
        for part in parts
    )
    return f"<table><tr><th>part</th><th>value</th><th>adds</th><th></th></tr>{rows}</table>"


def _bar(part: Part) -> str:
    """What only orders hits adds nothing, and shows its own value."""
    length, color = abs(part.contribution), PENALTY if part.contribution < 0 else GAIN
    if part.layer == "order":
        length, color = part.value, ORDER
    style = f"display:inline-block;height:.7em;background:{color};width:{length * BAR_PIXELS:.0f}px"
    return f"<span style='{style}'></span>"


def _trace(trace: Trace, *, is_open: bool) -> str:
    facts = [
        ("rung", trace.rung),
        ("filter", trace.filter or "all cards"),
        ("words", " ".join(trace.terms)),
        *((stage.name, f"{stage.ms:.1f} ms, {stage.count} left") for stage in trace.stages),
        *(("note", note) for note in trace.notes),
    ]
    rows = "".join(f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(value)}</td></tr>" for name, value in facts)
    return f"<details{' open' * is_open}><summary>how it was found</summary><table>{rows}</table></details>"
