"""The state of a vault for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put, size, state
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
        "synced": status.synced_at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if status.synced_at else "never",
        "problems": f"{len(status.problems):,}",
    }
    for name, value in facts.items():
        put(console, (f"{name:<10}", DIM), printable(value))
    put(console, (f"{'status':<10}", DIM), state(status.status, status.reason, status.hint))
    for note in status.notes:
        put(console, (f"{'note':<10}", DIM), (printable(note), "yellow"))
    print_problems(console, "problems", status.problems)
