"""What a machine keeps of the texts of cards: named and dropped without any model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cogvault.embedders.vector_store import VectorStore

__all__ = ["KeptVectors", "keys_of"]

_OWNER_BYTES: Final = 16


class KeptVectors:
    """The shared cache of vectors, for those who move and delete cards. Safe for many threads and processes.

    Args:
        store: The cache's file; one that is not there is not made by forgetting.
    """

    __slots__ = ("_store",)

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def own(self, model: str, pairs: Iterable[tuple[str, str]]) -> None:
        """Remember of which cards texts are, so that ``forget_cards`` finds what they ever held.

        Args:
            model: Fingerprint of the model that embeds the texts.
            pairs: (card id, text) each.
        """
        cards, texts = zip(*pairs, strict=True)
        self._store.own(list(zip(map(_owner, cards), keys_of(model, texts), strict=True)))

    def share(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Cards have another id now: what the first of each pair of ids held is also the second's."""
        self._store.share([(_owner(old), _owner(new)) for old, new in pairs])

    def forget_cards(self, ids: Iterable[str]) -> None:
        """Drop the vectors, of every model, of all texts that cards with these ids ever held, in any vault.

        A card of the same text, or of the same id in another vault, is embedded again when its index is made anew.
        """
        self._store.delete_owned([_owner(id) for id in ids])

    def forget(self, model: str, texts: Sequence[str]) -> None:
        """Drop the vectors that the model with this fingerprint made of texts."""
        self._store.delete(keys_of(model, texts))


def keys_of(model: str, texts: Sequence[str]) -> list[bytes]:
    """Under which each text's vector is kept, by the fingerprint of its model."""
    begun = hashlib.sha256(model.encode())
    keys = []
    for text in texts:
        digest = begun.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        keys.append(digest.digest())
    return keys


def _owner(card: str) -> bytes:
    return hashlib.sha256(card.encode("utf-8", "surrogatepass")).digest()[:_OWNER_BYTES]
