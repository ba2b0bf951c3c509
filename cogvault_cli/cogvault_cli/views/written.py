"""What a write did, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put

if TYPE_CHECKING:
    from cogvault import WriteResult


def print_written(console: Console, result: WriteResult) -> None:
    """The card and what became of it, then what its writer should know."""
    put(console, (printable(result.id), "cyan"), (f"  {result.action}", DIM))
    for secret in result.secrets:
        put(console, (f"  line {secret.line}: looks like a secret ({secret.kind}); --redact masks it", "yellow"))
    for card in result.similar:
        put(console, f"  says nearly the same: {printable(card.id)} ({card.similarity:.0%})")
    if result.links_rewritten:
        put(console, f"  {result.links_rewritten:,} links rewritten")
    for problem in result.problems:
        # Of the card itself nobody need be told where it is.
        path = "" if problem.path in ("", result.id) else problem.path
        where = f"{path}:{problem.line}: " if path and problem.line is not None else f"{path}: " if path else ""
        put(console, (f"  {printable(where + problem.message)}", "yellow"))
