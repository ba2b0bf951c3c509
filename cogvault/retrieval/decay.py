"""Temporal decay: older cards weigh less, down to a floor; outdated cards weigh half. The clock is an argument."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cogvault.retrieval.succession import SharedGraph
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


def validity(card: CardInfo, at: datetime, replaced: Mapping[str, datetime]) -> str:
    """``current``, ``superseded`` or ``expired`` at an instant; ``future`` before ``valid_from``.

    A card is superseded when it says so (``superseded_by``) or another does (``supersedes``), whose time has come.

    Args:
        replaced: ids of cards that others took the place of, and since when; see ``succession.replaced``.
    """
    if card.valid_from is not None and at < card.valid_from:
        return "future"
    since = replaced.get(card.id)
    over = bool(card.superseded_by) or (since is not None and at >= since)
    if over and (card.valid_until is None or at >= card.valid_until):
        return "superseded"
    if card.valid_until is not None and at >= card.valid_until:
        return "expired"
    return CURRENT


def validity_weights(cards: Sequence[CardInfo], at: datetime, replaced: Mapping[str, datetime]) -> FloatArray:
    """(n,) factor of each card: 1 when current at that instant, else ``OUTDATED_WEIGHT``, so that it ranks below."""
    held = (validity(card, at, replaced) == CURRENT for card in cards)
    return np.array([1.0 if current else OUTDATED_WEIGHT for current in held], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found out about a list of cards: which of them can be outdated at all, and which others replaced."""

    cards: Sequence[CardInfo]
    doubtful: BoolArray
    replaced: Mapping[str, datetime]


class Validities:
    """Validity of a vault's cards. Keeps which cards of the last list can be outdated at all: most never are.

    Args:
        graph: tells which card a name means.
    """

    def __init__(self, graph: SharedGraph) -> None:
        self._graph = graph
        self._last: _Known | None = None

    def replaced(self, cards: Sequence[CardInfo]) -> Mapping[str, datetime]:
        """Ids of the cards that others say they took the place of, and since when."""
        return self._known(cards).replaced

    def weights(self, cards: Sequence[CardInfo], places: IntArray, at: datetime) -> FloatArray:
        """(n,) ``validity_weights`` of the cards at some places of a list, which is ordered by id."""
        known = self._known(cards)
        found = np.ones(len(places), np.float32)
        chosen = np.flatnonzero(known.doubtful[places])
        found[chosen] = validity_weights([cards[place] for place in places[chosen].tolist()], at, known.replaced)
        return found

    def _known(self, cards: Sequence[CardInfo]) -> _Known:
        known = self._last
        if known is None or known.cards is not cards:
            dated = (card.valid_from or card.valid_until or card.superseded_by or card.supersedes for card in cards)
            doubtful = np.fromiter(map(bool, dated), np.bool_, len(cards))
            marked = [cards[place] for place in np.flatnonzero(doubtful).tolist()]
            replaced = self._graph.replaced(cards, [card for card in marked if card.supersedes])
            doubtful[[bisect_left(cards, id, key=_id_of) for id in replaced]] = True
            self._last = known = _Known(cards, doubtful, replaced)
        return known


def _id_of(card: CardInfo) -> str:
    return card.id
