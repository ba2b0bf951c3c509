"""What a machine keeps of removed cards outside the index."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cogvault.embedders.cached import CachedEmbedder
from cogvault.errors import ModelError
from cogvault.protocols import Embedder, Snapshot

__all__ = ["forget_vectors"]

_CARDS_AT_ONCE = 500
_log = logging.getLogger(__name__)


def forget_vectors(snapshot: Snapshot, embedder: Embedder | None, ids: Sequence[str]) -> None:
    """Drop the vectors of all texts that cards ever held from the machine's cache; another card of the same text is
    embedded again.

    Args:
        snapshot: in which the cards still are.
        embedder: the model in use; one without a cache keeps nothing.
        ids: the cards.
    """
    if not isinstance(embedder, CachedEmbedder):
        return
    embedder.forget_cards(ids)
    # A cache of before cards' earlier texts were known has at least the present ones.
    for start in range(0, len(ids), _CARDS_AT_ONCE):
        chunks = (stored.chunk for id in ids[start : start + _CARDS_AT_ONCE] for stored in snapshot.of_card(id))
        try:
            embedder.forget([chunk.embed_text for chunk in chunks if chunk.embed_text])
        except ModelError as error:
            _log.warning("vectors of removed cards stay in the cache until they are the oldest: %s", error)
            return
