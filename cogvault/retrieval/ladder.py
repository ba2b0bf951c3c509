"""Which candidates are worth showing (spec 7.3): each rung only adds, and past the last the answer is empty. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cogvault.types import BoolArray, CardInfo, Evidence, FloatArray, IntArray, Term, TermKind

USER_SCOPE = "user"
# A card about the user may be shown at this share of the last threshold.
USER_SCOPE_SHARE = 0.75
# Without vectors the last threshold is this share of itself, and so much more for each point that this place reaches:
# words that ten cards hold tell less which of them is meant.
KEYWORD_SHARE = 0.65
BACKGROUND_WEIGHT = 1.2
BACKGROUND_PLACE = 10
# What is below every threshold fills an answer up to so many hits, however many were asked for.
SUPPLEMENTED_HITS = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """Places of the chosen candidates, best first, and the last rung that added one."""

    places: IntArray
    rung: str


def select(scores: FloatArray, k: int, floor: float | None) -> Selection:
    """The ``k`` best of at least ``floor``, as ``min_score`` asks for; None = no floor. ``scores`` fall."""
    places = np.flatnonzero(scores >= (floor or 0.0))[:k]
    if not len(places):
        return Selection(places, "none")
    return Selection(places, "no threshold" if floor is None else "min_score")


def climb(
    scores: FloatArray,
    k: int,
    thresholds: Sequence[float],
    user: Callable[[IntArray], BoolArray],
    covered: Callable[[], BoolArray],
    *,
    pool: int = 0,
) -> Selection:
    """Go down the ladder until ``k`` are found or the rungs end.

    Args:
        scores: (n,) falling.
        k: how many are wanted.
        thresholds: falling.
        user: tells of some places (m,) which cards are in the user scope; asked only below the last threshold.
        covered: gives (n,) the card holds every word of the query; asked last.
        pool: give at most so many of those that reached the rung, never fewer than ``k``: what diversity and reranking
            choose from. It moves no rung.
    """
    rung = "none"
    places = np.empty(0, np.int64)
    for threshold in thresholds:
        found = np.flatnonzero(scores >= threshold)
        if len(found) > len(places):
            places, rung = found, f"{threshold:.2f}"
        if len(places) >= k:
            break
    wanted = min(k, SUPPLEMENTED_HITS)
    if len(places) < wanted:
        near = np.flatnonzero((scores >= thresholds[-1] * USER_SCOPE_SHARE) & (scores < thresholds[-1]))
        more = near[user(near)][: wanted - len(places)]
        places, rung = _joined(places, more), "user scope" if len(more) else rung
    if len(places) < wanted:
        is_new = np.array(covered(), np.bool_)
        is_new[places] = False
        more = np.flatnonzero(is_new)[: wanted - len(places)]
        places, rung = _joined(places, more), "keyword scan" if len(more) else rung
    return Selection(places[: max(k, pool)], rung)


def _joined(places: IntArray, more: IntArray) -> IntArray:
    return np.sort(np.concatenate([places, more]))


def keyword_thresholds(thresholds: Sequence[float], scores: FloatArray) -> tuple[float, ...]:
    """Thresholds where keywords alone speak.

    A share of words means more in one language than in another, and in a small vault than in a large one, where more
    cards hold some of them by chance. So the last threshold follows what the tenth card reaches, up to the first one.

    Args:
        thresholds: falling.
        scores: (cards,) falling, the best of each card.
    """
    background = float(scores[BACKGROUND_PLACE - 1]) if len(scores) >= BACKGROUND_PLACE else 0.0
    last = min(thresholds[0], KEYWORD_SHARE * thresholds[-1] + BACKGROUND_WEIGHT * background)
    return (*(threshold for threshold in thresholds if threshold > last), last)


def confidence(score: float, thresholds: Sequence[float]) -> str:
    """``high``, ``medium`` or ``low`` by the highest threshold reached, else ``weak``."""
    for name, threshold in zip(("high", "medium", "low"), thresholds, strict=False):
        if score >= threshold:
            return name
    return "weak"


def in_user_scope(card: CardInfo) -> bool:
    """True for a card below ``user/`` or of type ``user``."""
    return card.id.split("/", 1)[0] == USER_SCOPE or card.type == USER_SCOPE


def covers_query(evidence: Evidence, terms: Sequence[Term]) -> BoolArray:
    """(n,) True where the card holds the stem of every word of the query."""
    columns = [i for i, term in enumerate(terms) if term.kind is TermKind.STEM]
    if not columns:
        return np.zeros(len(evidence.chunks), dtype=np.bool_)
    return np.asarray((evidence.card.counts[:, columns] > 0).all(axis=1))
