"""Temporal decay: older cards weigh less, down to a floor; outdated cards weigh half. The clock is an argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cogvault.cards.key_names import with_nested
from cogvault.indexes.difference import difference
from cogvault.retrieval.succession import SharedGraph
from cogvault.text.dates import parse_date
from cogvault.text.normalise import fold
from cogvault.types import Card, CardInfo, FloatArray, IntArray

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


def validity(card: CardInfo | Card, at: datetime, replaced: Mapping[str, datetime]) -> str:
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


def review_due(card: CardInfo, now: datetime) -> bool:
    """True when the day has come by which a card is to be looked at again; an unreadable one never comes."""
    value = with_nested(card.meta).get("review_by")
    moment = None if value is None else parse_date(str(value))
    return moment is not None and now >= moment


def validity_weights(cards: Sequence[CardInfo], at: datetime, replaced: Mapping[str, datetime]) -> FloatArray:
    """(n,) factor of each card: 1 when current at that instant, else ``OUTDATED_WEIGHT``, so that it ranks below."""
    held = (validity(card, at, replaced) == CURRENT for card in cards)
    return np.array([1.0 if current else OUTDATED_WEIGHT for current in held], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found out about a list of cards.

    Attributes:
        cards: that list.
        marked: those of them that say something of when they hold, by id; most never do.
        replaced: which of them others took the place of.
    """

    cards: Sequence[CardInfo]
    marked: Mapping[str, CardInfo]
    replaced: Mapping[str, datetime]


class Validities:
    """Validity of a vault's cards. Follows from one list of cards to the next by those that came and went.

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
        if known.marked:  # who replaces another is marked
            asked = [cards[place] for place in places.tolist()]
            chosen = [n for n, card in enumerate(asked) if card.id in known.marked or card.id in known.replaced]
            found[chosen] = validity_weights([asked[n] for n in chosen], at, known.replaced)
        return found

    def _known(self, cards: Sequence[CardInfo]) -> _Known:
        known = self._last
        if known is None or known.cards is not cards:
            marked = _marked(cards, known)
            replaced = self._graph.replaced(cards, marked.values())
            self._last = known = _Known(cards, marked, replaced)
        return known


def _marked(cards: Sequence[CardInfo], before: _Known | None) -> dict[str, CardInfo]:
    change = None if before is None else difference(before.cards, cards)
    if before is None or change is None or change.is_large:
        return {card.id: card for card in cards if _is_marked(card)}
    marked = dict(before.marked)
    for card in change.gone:
        marked.pop(card.id, None)
    marked.update((card.id, card) for card in change.come if _is_marked(card))
    return marked


def _is_marked(card: CardInfo) -> bool:
    return bool(card.valid_from or card.valid_until or card.superseded_by or card.supersedes)
