"""How strong the memory of a card is, and what a sweep does about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cogvault.types.base import JsonValue, Problem, to_document
from cogvault.types.writes import Action


@dataclass(frozen=True, slots=True)
class CardStrength:
    """Strength of one card at an instant.

    Attributes:
        strength: 0 to 1, see ``docs/explanation/forgetting.md``.
        half_life_days: after so many days without a use it is half of what it was.
        uses: answers that the card was part of, and explicit reads.
        last_used: the last of them, None = never used.
        since: when forgetting began: the last use or, for a card that was never used, its last change.
    """

    id: str
    title: str
    strength: float
    half_life_days: float
    uses: int
    last_used: datetime | None
    since: datetime


class Verdict(StrEnum):
    """Why a sweep keeps a card, or that it does not: ``weak`` cards go."""

    PINNED = "pinned"
    EVERGREEN = "evergreen"
    YOUNG = "young"
    STRONG = "strong"
    CHANGED = "changed"
    UNREADABLE = "unreadable"
    WEAK = "weak"


@dataclass(frozen=True, slots=True)
class SweepItem:
    """A sweep's judgment of one card.

    Attributes:
        card: how strong it is.
        reason: the verdict in words, with its figures.
        action: ``archived`` or ``purged`` once that was done, None = the card is where it was.
    """

    card: CardStrength
    verdict: Verdict
    reason: str
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did, or would do.

    Attributes:
        items: every card of the vault, weakest first.
        applied: False for a dry run, which changes nothing.
        problems: weak cards that are still there, and why; files with a person's text that may quote a card that is
            gone.
    """

    items: tuple[SweepItem, ...]
    applied: bool
    problems: tuple[Problem, ...] = ()

    @property
    def weak(self) -> tuple[SweepItem, ...]:
        """The cards that go, or went."""
        return tuple(item for item in self.items if item.verdict is Verdict.WEAK)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)
