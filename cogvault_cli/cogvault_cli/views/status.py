"""The state of a vault for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, size, state
from cogvault_cli.views.sync import print_problems

if TYPE_CHECKING:
    from cogvault import VaultStatus


def print_status(console: Console, status: VaultStatus) -> None:
    """One line a fact, then problems of single cards."""
    vectors = f"{status.vectors:,}" + (f", {status.pending:,} pending" if status.pending else "")
    facts = {
        "vault": status.path,
        "index": f"{status.index}, {size(status.bytes_on_disk)}",
        "model": status.model or "none",
        "cards": f"{status.cards:,}",
        "chunks": f"{status.chunks:,}",
        "vectors": vectors,
        "changes": f"{status.sequence:,} since the index was made",
        "problems": f"{len(status.problems):,}",
    }
    for name, value in facts.items():
        console.print(Text(f"{name:<10}", DIM) + Text(printable(value)), soft_wrap=True)
    console.print(Text(f"{'status':<10}", DIM) + state(status.status, status.reason, status.hint), soft_wrap=True)
    for note in status.notes:
        console.print(Text(f"{'note':<10}", DIM) + Text(printable(note), "yellow"), soft_wrap=True)
    print_problems(console, "problems", status.problems)
