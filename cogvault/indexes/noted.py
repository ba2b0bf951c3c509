"""Cards with problems, found without a look at the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from cogvault.types import CardInfo

__all__ = ["Noting", "with_problems"]


@runtime_checkable
class Noting(Protocol):
    """A sequence of cards that knows which of them have problems."""

    def noted(self) -> list[CardInfo]:
        """The cards with problems, in order."""


def with_problems(cards: Sequence[CardInfo]) -> list[CardInfo]:
    """The cards with problems, in order."""
    return cards.noted() if isinstance(cards, Noting) else [card for card in cards if card.problems]
