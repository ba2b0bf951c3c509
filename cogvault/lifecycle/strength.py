"""How strong the memory of a card is: a forgetting curve. Pure; the clock is an argument.

    strength = 2 ** (-days / half-life)         days since the card was last used (or, never used, last changed)
    half-life = 90 days * 4 ** (2 * importance - 1) * (1 + uses) ** 0.5

The form is that of half-life regression (Settles and Meeder 2016, "A Trainable Spaced Repetition Model for Language
Learning", ACL, equations 1 and 2: p = 2 ** (-delta / h), h = 2 ** (weights . features)), with two features: how
important the card is, and the logarithm of how often it was used, as in the power law of practice (Newell and
Rosenbloom 1981). The weights are chosen, not fitted: nobody has recall data of a vault that begins.
"""

from __future__ import annotations

import math
from datetime import datetime

__all__ = ["BASE_HALF_LIFE_DAYS", "half_life_days", "strength"]

# Of a card of middling importance that was never used: below 0.3, the default limit, after 156 days.
BASE_HALF_LIFE_DAYS = 90.0
# The half-life doubles this often between importance 0.5 and 1, and is halved as often towards 0.
IMPORTANCE_DOUBLINGS = 2.0
# Exponent of the uses: four times as many make it twice as long.
USE_EXPONENT = 0.5
USUAL_IMPORTANCE = 0.5
_SECONDS_PER_DAY = 86_400.0


def half_life_days(importance: float | None, uses: int) -> float:
    """Days without a use after which the strength of a card is halved, above 0.

    Args:
        importance: 0 to 1; None = 0.5.
        uses: how often it was used, 0 or more.

    >>> [round(half_life_days(importance, uses)) for importance, uses in ((None, 0), (0.5, 3), (1.0, 0), (0.0, 0))]
    [90, 180, 360, 22]
    """
    weight = USUAL_IMPORTANCE if importance is None else importance
    doublings = IMPORTANCE_DOUBLINGS * (2 * weight - 1) + USE_EXPONENT * math.log2(1 + uses)
    return BASE_HALF_LIFE_DAYS * math.exp2(doublings)


def strength(importance: float | None, uses: int, since: datetime, now: datetime) -> float:
    """Strength of a card, 0 to 1: 1 at its last use, half of that after each half-life.

    Args:
        importance: 0 to 1; None = 0.5.
        uses: how often it was used, 0 or more.
        since: its last use, or its last change when it was never used; timezone-aware. One to come counts as now.
        now: the current instant, timezone-aware.

    >>> from datetime import UTC
    >>> strength(None, 0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
    0.5
    """
    days = max(0.0, (now - since).total_seconds() / _SECONDS_PER_DAY)
    return math.exp2(-days / half_life_days(importance, uses))
