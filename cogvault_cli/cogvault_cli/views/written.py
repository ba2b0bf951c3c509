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
    for problem in result.problems:
        put(console, (f"  {printable(problem.message)}", "yellow"))
