"""Which candidates are worth showing (spec 7.3): each rung only adds, and past the last the answer is empty. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cogvault.types import BoolArray, CardInfo, Evidence, FloatArray, IntArray, Term, TermKind

USER_SCOPE = "user"
# A card about the user may be shown at this share of the last threshold, when nothing else was found.
USER_SCOPE_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Selection:
    """Places of the chosen candidates, best first, and the rung that ended the search."""

    places: IntArray
    rung: str


def select(scores: FloatArray, k: int, floor: float) -> Selection:
    """The ``k`` best of at least ``floor``: what an explicit ``min_score`` asks for. ``scores`` fall."""
    places = np.flatnonzero(scores >= floor)[:k]
    return Selection(places, "min_score" if len(places) else "none")


def climb(
    scores: FloatArray,
    k: int,
    thresholds: Sequence[float],
    user: Callable[[], BoolArray],
    covered: Callable[[], BoolArray],
) -> Selection:
    """Go down the ladder until ``k`` are found or the rungs end.

    Args:
        scores: (n,) falling.
        k: how many are wanted.
        thresholds: falling.
        user: gives (n,) the card is in the user scope; asked only when nothing else was found.
        covered: gives (n,) the card holds every word of the query; asked last.
    """
    rung = "none"
    places = np.empty(0, np.int64)
    for threshold in thresholds:
        found = np.flatnonzero(scores >= threshold)
        if len(found) > len(places):
            places, rung = found, f"{threshold:.2f}"
        if len(places) >= k:
            break
    if not len(places):
        places = np.flatnonzero(user() & (scores >= thresholds[-1] * USER_SCOPE_SHARE))
        rung = "user scope" if len(places) else rung
    if not len(places):
        places = np.flatnonzero(covered())
        rung = "keyword scan" if len(places) else rung
    return Selection(places[:k], rung)


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
