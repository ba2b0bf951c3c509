"""Which cards came and went between two snapshots. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cogvault.types import CardInfo

__all__ = ["Difference", "difference"]

# With more changes than this, what is kept of the cards is made anew rather than followed.
_MANY = 256


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes between two lists of cards. A card that changed both went and came.

    Attributes:
        now: the new list.
        gone: cards of the old one only.
        come: cards of the new one only.
    """

    now: list[CardInfo]
    gone: list[CardInfo]
    come: list[CardInfo]

    @property
    def is_large(self) -> bool:
        """True when making anew is less work than following."""
        return len(self.gone) + len(self.come) > _MANY


def difference(before: Sequence[CardInfo], cards: Sequence[CardInfo]) -> Difference:
    """What changed. An index gives the same object for a card that did not change; equal ones are changes otherwise."""
    now = list(cards)
    start, old_end, new_end = 0, len(before), len(now)
    while start < min(old_end, new_end) and before[start] is now[start]:
        start += 1
    while old_end > start and new_end > start and before[old_end - 1] is now[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    old, new = before[start:old_end], now[start:new_end]
    held, given = {id(card) for card in old}, {id(card) for card in new}
    return Difference(
        now, [card for card in old if id(card) not in given], [card for card in new if id(card) not in held]
    )
