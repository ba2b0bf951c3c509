"""What a machine keeps of removed cards outside the index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from cogvault.embedders.cached import CachedEmbedder
from cogvault.embedders.kept_vectors import KeptVectors
from cogvault.errors import ModelError
from cogvault.indexing.chunker import chunker_for
from cogvault.protocols import Embedder, Index, Snapshot, Summarizer
from cogvault.types import Card

__all__ = ["Remains", "TextForgetter"]

_CARDS_AT_ONCE = 500
_log = logging.getLogger(__name__)


class Remains:
    """Vectors and summaries of cards, which go where the cards go.

    Args:
        embedder: the model in use, whose cache it is.
        kept: the machine's cache of vectors where the model has none, or there is no model: another process had one.
        summarizer: keeps what it said of cards; None = there is none.
    """

    def __init__(self, embedder: Embedder | None, kept: KeptVectors | None, summarizer: Summarizer | None) -> None:
        self._kept = _kept_by(embedder, kept)
        self._summarizer = summarizer

    def forget(self, snapshot: Snapshot, ids: Sequence[str]) -> None:
        """Drop what is kept of all texts that cards ever held; another card of the same text is embedded again.

        Args:
            snapshot: in which the cards still are.
            ids: the cards.
        """
        if self._kept is not None and ids:
            self._kept.forget_cards(ids)
            # A cache of before cards' earlier texts were known has at least the present ones.
            model = snapshot.stats.identity.model
            for start in range(0, len(ids), _CARDS_AT_ONCE):
                chunks = (stored.chunk for id in ids[start : start + _CARDS_AT_ONCE] for stored in snapshot.of_card(id))
                self._kept.forget(model, [chunk.embed_text for chunk in chunks if chunk.embed_text])
        if self._summarizer is not None:
            for id in ids:
                self._summarizer.forget(id)

    def share(self, moved: Sequence[tuple[str, str]]) -> None:
        """Cards are about to have another id, (old, new) each."""
        if self._kept is not None:
            self._kept.share(moved)

    def rename(self, moved: Iterable[tuple[str, str]]) -> None:
        """Cards have another id, (old, new) each."""
        if self._summarizer is not None:
            for old, new in moved:
                self._summarizer.rename(old, new)


class TextForgetter:
    """Drops the vectors of the text of one card, which need not be in the index.

    Args:
        index: of the card's vault; it names the model of old.
        embedder: the model in use, None = none.
        kept: the machine's cache where the model has none, or there is no model.
        chunk_tokens: typical size of a chunk.
    """

    def __init__(
        self,
        index: Callable[[], Index],
        embedder: Callable[[], Embedder | None],
        kept: KeptVectors,
        chunk_tokens: int,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._kept = kept
        self._chunk_tokens = chunk_tokens

    def __call__(self, card: Card) -> None:
        """Forget a card as it was in its file."""
        embedder, models = self._embedder(), {self._index().snapshot().stats.identity.model}
        kept = _kept_by(embedder, self._kept)
        try:
            if embedder is not None:
                models.add(embedder.fingerprint)
            chunks = chunker_for(embedder, self._chunk_tokens).chunk(card)
        except ModelError as error:
            _log.warning("%s: cut into chunks without the model: %s", card.path, error)
            chunks = chunker_for(None, self._chunk_tokens).chunk(card)
        if kept is not None:
            for model in models:
                kept.forget(model, [chunk.embed_text for chunk in chunks if chunk.embed_text])


def _kept_by(embedder: Embedder | None, otherwise: KeptVectors | None) -> KeptVectors | None:
    return embedder.kept if isinstance(embedder, CachedEmbedder) else otherwise
