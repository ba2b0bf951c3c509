"""Single cards of an index, found without listing all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from cogvault.cards.addresses import card_at
from cogvault.types import CardInfo, KnownFile

__all__ = ["KnownFiles"]


class KnownFiles:
    """Files of the cards of an index.

    Args:
        cards: all of them, ordered by id.
    """

    def __init__(self, cards: Sequence[CardInfo]) -> None:
        self._cards = cards

    def is_plain(self, path: str) -> bool:
        """True when a file at this path can concern no card but the one with this id.

        It may, where the id is of a file with another spelling of the path (normal forms of Unicode), and where the
        file took the place of a folder with cards.

        Args:
            path: vault-relative, with ``/``; the same in every normal form.
        """
        card = self.card(path)
        if card is not None:
            return card.path == path
        below = self._first(f"{path}/")
        return below is None or not below.id.startswith(f"{path}/")

    def files(self, ids: Iterable[str]) -> dict[str, KnownFile]:
        """The files of those cards that are known."""
        found = ((id, self.card(id)) for id in ids)
        return {id: KnownFile(card.path, card.stamp, card.hash) for id, card in found if card is not None}

    def card(self, id: str) -> CardInfo | None:
        """The card with this id, None = there is none."""
        return card_at(self._cards, id)

    def _first(self, id: str) -> CardInfo | None:
        place = bisect_left(self._cards, id, key=lambda card: card.id)
        return self._cards[place] if place < len(self._cards) else None
