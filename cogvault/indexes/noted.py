"""Cards with problems, found without a look at the others."""

from __future__ import annotations

from collections.abc import Sequence

from cogvault.indexes.difference import Following
from cogvault.types import CardInfo

__all__ = ["with_problems"]


def with_problems(cards: Sequence[CardInfo]) -> list[CardInfo]:
    """The cards with problems, in order."""
    return cards.noted() if isinstance(cards, Following) else [card for card in cards if card.problems]
