"""The order of scored candidates. Pure."""

from __future__ import annotations

import numpy as np

from cogvault.types import Evidence, FloatArray, IntArray


def best_first(final: FloatArray, evidence: Evidence, per_card: int) -> IntArray:
    """Places of candidates, best first, at most ``per_card`` a card (0 = no limit); ties by card id, then position.

    Scores are compared to six decimals, so that the order in which sums were taken never shows.
    """
    # Cards are ordered by id, so their place in the snapshot stands for the id.
    order = np.lexsort((evidence.positions, evidence.cards, -np.round(final, 6)))
    if per_card == 0:
        return order
    cards = evidence.cards[order]
    if per_card == 1:
        _, first = np.unique(cards, return_index=True)
        return order[np.sort(first)]
    seen: dict[int, int] = {}
    keep = []
    for place, card in enumerate(cards.tolist()):
        seen[card] = seen.get(card, 0) + 1
        if seen[card] <= per_card:
            keep.append(place)
    return order[np.array(keep, dtype=np.int64)]
