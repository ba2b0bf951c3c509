"""Which cards came and went between two lists of cards. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Protocol, TypeVar, runtime_checkable

from cogvault.types import CardInfo

__all__ = ["Difference", "Following", "History", "Step", "difference"]

_Item = TypeVar("_Item")

# With more changes than this, what is kept of the cards is made anew rather than followed.
_MANY = 256


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes between two lists of cards. A card that changed both went and came.

    Attributes:
        gone: cards of the old list only.
        come: cards of the new list only.
    """

    gone: Sequence[CardInfo]
    come: Sequence[CardInfo]

    @property
    def is_large(self) -> bool:
        """True when making anew is less work than following."""
        return len(self.gone) + len(self.come) > _MANY


@runtime_checkable
class Following(Protocol):
    """A list of cards that knows more of them than their order. Any other is asked card by card."""

    def since(self, before: Sequence[CardInfo]) -> Difference | None:
        """What changed from ``before`` to this; None = not known."""

    def noted(self) -> list[CardInfo]:
        """The cards with problems, in order."""


def difference(before: Sequence[CardInfo], cards: Sequence[CardInfo]) -> Difference:
    """What changed. An index gives the same object for a card that did not change; equal ones are changes otherwise."""
    known = cards.since(before) if isinstance(cards, Following) else None
    if known is not None:
        return known
    old, new = list(before), list(cards)
    held, given = {id(card) for card in old}, {id(card) for card in new}
    return Difference([card for card in old if id(card) not in given], [card for card in new if id(card) not in held])


@dataclass(frozen=True, slots=True)
class Step(Generic[_Item]):
    """What one change took away and brought."""

    gone: Sequence[_Item]
    come: Sequence[_Item]

    @property
    def size(self) -> int:
        """How many things it is about."""
        return len(self.gone) + len(self.come)


class History(Generic[_Item]):
    """The last changes that led to a list; those of the lists before it are the beginning of it.

    Things are told apart by identity, and what went never comes back.

    Args:
        start: any object, the same for all histories with the same beginning; None = this one begins.
        first: number of changes that are no longer known.
        steps: those that are, oldest first.
    """

    def __init__(self, start: object = None, first: int = 0, steps: tuple[Step[_Item], ...] = ()) -> None:
        self._start = object() if start is None else start
        self._first = first
        self._steps = steps

    def then(self, step: Step[_Item]) -> History[_Item]:
        """With one more change; of the old ones so many are kept as are worth following."""
        steps, first = (*self._steps, step), self._first
        size = sum(each.size for each in steps)
        while steps and size > _MANY:
            size -= steps[0].size
            steps, first = steps[1:], first + 1
        return History(self._start, first, steps)

    def since(self, before: History[_Item]) -> Step[_Item] | None:
        """What changed from the list with another history to the one with this; None = not known."""
        if before._start is not self._start:
            return None
        if before._reached > self._reached:
            back = before.since(self)
            return None if back is None else Step(back.come, back.gone)
        if before._reached < self._first:
            return None
        return _whole(self._steps[before._reached - self._first :])

    @property
    def _reached(self) -> int:
        return self._first + len(self._steps)


def _whole(steps: Sequence[Step[_Item]]) -> Step[_Item]:
    """Several changes as one: what came and went meanwhile is neither."""
    come = {id(item): item for item in chain.from_iterable(step.come for step in steps)}
    gone = {id(item): item for item in chain.from_iterable(step.gone for step in steps)}
    return Step(
        [item for key, item in gone.items() if key not in come], [item for key, item in come.items() if key not in gone]
    )
