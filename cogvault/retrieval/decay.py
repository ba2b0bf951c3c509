"""Temporal decay: older cards weigh less, down to a floor; outdated cards weigh half. The clock is an argument."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from cogvault.text.normalise import fold
from cogvault.types import BoolArray, CardInfo, FloatArray, IntArray

SECONDS_PER_DAY = 86_400.0
OUTDATED_WEIGHT = 0.5
CURRENT = "current"


def decay_weights(
    cards: Sequence[CardInfo], *, now: datetime, half_life_days: float | None, floor: float, evergreen: Sequence[str]
) -> FloatArray:
    """(n,) factor of each card: 0.5 ** (age / half-life), at least ``floor``; 1 for future, pinned and evergreen cards.

    Args:
        cards: the candidates' cards.
        now: the instant ages are counted from, timezone-aware.
        half_life_days: None = no decay at all.
        floor: smallest factor.
        evergreen: types that never decay.
    """
    if half_life_days is None:
        return np.ones(len(cards), dtype=np.float32)
    exempt = {fold(kind) for kind in evergreen}
    ages = np.array(
        [
            0.0 if card.pinned or fold(card.type or "") in exempt else (now - card.dated).total_seconds()
            for card in cards
        ],
        dtype=np.float64,
    )
    weights = np.exp2(-np.maximum(ages, 0.0) / (half_life_days * SECONDS_PER_DAY))
    return np.maximum(weights, floor).astype(np.float32)


def validity(card: CardInfo, at: datetime) -> str:
    """``current``, ``superseded`` or ``expired`` at an instant; ``future`` before ``valid_from``."""
    if card.valid_from is not None and at < card.valid_from:
        return "future"
    if card.superseded_by and (card.valid_until is None or at >= card.valid_until):
        return "superseded"
    if card.valid_until is not None and at >= card.valid_until:
        return "expired"
    return CURRENT


def validity_weights(cards: Sequence[CardInfo], at: datetime) -> FloatArray:
    """(n,) factor of each card: 1 when current at that instant, else ``OUTDATED_WEIGHT``, so that it ranks below."""
    return np.array([1.0 if validity(card, at) == CURRENT else OUTDATED_WEIGHT for card in cards], dtype=np.float32)


class Validities:
    """Validity of a vault's cards. Keeps which cards of the last list can be outdated at all: most never are."""

    def __init__(self) -> None:
        self._known: tuple[Sequence[CardInfo], BoolArray] | None = None

    def weights(self, cards: Sequence[CardInfo], places: IntArray, at: datetime) -> FloatArray:
        """(n,) ``validity_weights`` of the cards at some places of a list."""
        known = self._known
        if known is None or known[0] is not cards:
            dated = (card.valid_from or card.valid_until or card.superseded_by for card in cards)
            known = cards, np.fromiter(map(bool, dated), np.bool_, len(cards))
            self._known = known
        found = np.ones(len(places), np.float32)
        chosen = np.flatnonzero(known[1][places])
        found[chosen] = validity_weights([cards[place] for place in places[chosen].tolist()], at)
        return found
