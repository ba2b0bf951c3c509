"""Which cards a model's floor is measured on."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections.abc import Sequence
from heapq import nsmallest
from threading import Lock

from cogvault.indexes.difference import difference
from cogvault.types import CardInfo

BACKGROUND = 192
# So many times as many are kept in order, so that cards that go seldom make it necessary to look at all again.
_RESERVE = 2


class Sampler:
    """The cards with the smallest content hashes. Follows from one list of cards to the next; safe for threads.

    Args:
        count: how many, where there are so many with a body.
    """

    def __init__(self, count: int = BACKGROUND) -> None:
        self._count = count
        self._lock = Lock()
        self._cards: Sequence[CardInfo] | None = None
        # Every card up to ``_bound`` (None = every card at all), in order.
        self._least: list[CardInfo] = []
        self._bound: tuple[str, str] | None = None

    def of(self, cards: Sequence[CardInfo]) -> tuple[list[CardInfo], str]:
        """Cards to measure on, and a name of that choice."""
        with self._lock:
            if cards is not self._cards:
                if self._cards is None or not self._follow(self._cards, cards):
                    self._make(cards)
                self._cards = cards
            chosen = self._least[: self._count]
        # A card without a title is embedded with its file's name.
        digest = hashlib.sha256("\n".join(f"{card.hash} {card.id}" for card in chosen).encode())
        return chosen, digest.hexdigest()[:16]

    def _make(self, cards: Sequence[CardInfo]) -> None:
        kept = self._count * _RESERVE
        self._least = nsmallest(kept, (card for card in cards if card.chunks > 1), key=_key)
        self._bound = _key(self._least[-1]) if len(self._least) == kept else None

    def _follow(self, before: Sequence[CardInfo], cards: Sequence[CardInfo]) -> bool:
        """Take in what changed; False when all cards have to be looked at."""
        change = difference(before, cards)
        if change.is_large:
            return False
        gone = {id(card) for card in change.gone}
        self._least = [card for card in self._least if id(card) not in gone]
        for card in change.come:
            if card.chunks > 1 and (self._bound is None or _key(card) <= self._bound):
                insort(self._least, card, key=_key)
        return self._bound is None or len(self._least) >= self._count


def _key(card: CardInfo) -> tuple[str, str]:
    return card.hash, card.id
