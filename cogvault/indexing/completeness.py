"""Whether an index holds all cards: it does once a sync of all files has ended."""

from __future__ import annotations

from pathlib import Path

from cogvault.indexing.last_sync import LastSync
from cogvault.protocols import Snapshot

__all__ = ["is_filled", "is_lost"]


def is_filled(snapshot: Snapshot, notes_folder: Path) -> bool:
    """False until a sync of all files has ended: for a new index, one of a killed first sync, and a damaged one."""
    return bool(snapshot.stats.identity.chunking) and LastSync(notes_folder).at() is not None


def is_lost(snapshot: Snapshot, notes_folder: Path) -> bool:
    """True for an index of which a sync was begun, and that is not filled; a new one is only new."""
    stats = snapshot.stats
    is_begun = stats.identity.chunking or stats.cards or stats.notes or LastSync(notes_folder).at()
    return bool(is_begun) and not is_filled(snapshot, notes_folder)
