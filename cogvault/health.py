"""How well a vault is: its index, its model, its watcher."""

from __future__ import annotations

from cogvault.errors import ModelError
from cogvault.indexes import IndexPlace
from cogvault.indexing.state import State
from cogvault.indexing.watching import Watcher
from cogvault.protocols import Embedder
from cogvault.retrieval.search import SYNC_HINT
from cogvault.types import IndexStats, Status

__all__ = ["index_state", "model_state", "watched_state"]


def index_state(stats: IndexStats, place: IndexPlace, *, is_recursive: bool) -> State | None:
    """What is wrong with an index; None = nothing.

    Args:
        stats: of the index.
        place: where it lies.
        is_recursive: subfolders belong to the vault.
    """
    if not stats.cards and not place.reason:
        hint = SYNC_HINT if is_recursive else f"{SYNC_HINT}; set recursive for subfolders"
        return State(Status.EMPTY, "the vault has no indexed cards", hint)
    if stats.fault:
        return State(Status.DEGRADED, stats.fault, SYNC_HINT)
    return State(Status.DEGRADED, place.reason, place.hint) if place.reason else None


def model_state(stats: IndexStats, embedder: Embedder | None, trouble: State | None) -> State | None:
    """What keeps the model from all that an index holds; None = nothing.

    Args:
        stats: of the index.
        embedder: the model, None = it cannot be had.
        trouble: what the last look at all files could not do, which may say why vectors are missing.
    """
    if embedder is None:
        return State(Status.DEGRADED, "no embedding model: keyword recall only", "pip install 'cogvault[bundled]'")
    try:
        is_served = stats.identity.model == embedder.fingerprint
    except ModelError as error:
        return trouble or State(Status.DEGRADED, f"keyword recall only: {error.message}", error.hint or "")
    if stats.vectors and not is_served:
        reason = "the index has no vectors of this model yet: keyword recall only"
        return trouble or State(Status.DEGRADED, reason, SYNC_HINT)
    if pending := stats.embeddable - stats.vectors:
        return trouble or State(Status.DEGRADED, f"{pending} chunks have no vector yet", SYNC_HINT)
    return None


def watched_state(watcher: Watcher | None) -> State | None:
    """What a watcher that runs says of its vault; None = none runs."""
    return State(watcher.status, watcher.reason, watcher.hint) if watcher is not None and watcher.is_running else None
