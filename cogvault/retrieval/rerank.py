"""Order the best hits again by a cross-encoder.

The cross-encoder decides the order among the top ten and nothing else: the score that is shown stays the absolute one.
Logits of one reranker mean something else than those of the next, and nothing in a vault says which of them is "good
enough"; mixing them in, or replacing the score by their sigmoid, would move thresholds, confidence and abstention with
every change of model. So the thresholds choose, the cross-encoder orders, and scores no longer fall from hit to hit.
What it said of each hit is the part ``rerank`` of the explanation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cogvault.rankers import CrossEncoder
from cogvault.retrieval.decay import CURRENT
from cogvault.retrieval.present import Found
from cogvault.types import IntArray

TOP = 10


@dataclass(frozen=True, slots=True)
class Reranked:
    """Places in their new order, and what the cross-encoder said of each that it read, 0 to 1."""

    places: IntArray
    said: Mapping[int, float] = field(default_factory=dict)


def rerank(found: Found, chosen: IntArray, encoder: CrossEncoder) -> Reranked:
    """The chosen places, the first ``TOP`` of them in the cross-encoder's order; equal ones keep theirs.

    Outdated cards stay below current ones.

    Raises:
        ModelError: the model is not here, or broken.
    """
    top = chosen[:TOP]
    scores = encoder.score(found.query.text, [_passage(found, place) for place in top.tolist()])
    # What holds stays above what was superseded or has expired, whatever the cross-encoder says.
    outdated = np.array([found.validity(place) != CURRENT for place in top.tolist()], dtype=np.bool_)
    order = np.lexsort((np.arange(len(top)), -scores, outdated))
    return Reranked(np.concatenate([top[order], chosen[TOP:]]), dict(zip(top.tolist(), scores.tolist(), strict=True)))


def _passage(found: Found, place: int) -> str:
    """The hit's chunk; for a card's head the best chunk of its body, else how the card begins."""
    evidence = found.evidence
    if evidence.positions[place] == 0:
        body = np.flatnonzero((evidence.cards == evidence.cards[place]) & (evidence.positions > 0))
        if not len(body):
            return "\n\n".join(item.chunk.text for item in found.snapshot.of_card(found.card(place).id)[:2])
        place = int(body[np.argmax(found.final[body])])
    return found.snapshot.chunks([int(evidence.chunks[place])])[0].chunk.text
