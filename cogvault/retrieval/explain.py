"""What each part added to a score. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cogvault.retrieval.hits import Part
from cogvault.retrieval.scoring import LayerScores, Scores

if TYPE_CHECKING:
    from cogvault.retrieval.search import SearchOptions


def parts_of(
    scores: Scores, place: int, final: float, options: SearchOptions, reranked: float | None = None
) -> tuple[Part, ...]:
    """Contributions of one candidate; they add up to ``final``.

    Args:
        scores: of all candidates.
        place: which candidate.
        final: its score after all factors.
        options: the weights that were used.
        reranked: what a cross-encoder said, which orders hits and adds nothing to the score; None = it did not read it.
    """
    said = () if reranked is None else (Part("order", "rerank", reranked, 0.0),)
    if options.fusion == "rrf":
        return (Part("sum", "rrf", final, final), *said)
    total = sum(options.layer_weights)
    parts: list[Part] = []
    for name, layer, weight in zip(
        ("L2", "L1", "L0"), (scores.detail, scores.window, scores.card), options.layer_weights, strict=True
    ):
        parts.extend(_layer_parts(name, layer, place, weight / total, options.semantic_weight))
    for name, values in (("speaker", scores.speaker), ("day", scores.day), ("title", scores.title)):
        if values[place] > 0:
            parts.append(Part("bonus", name, float(values[place]), float(values[place])))
    loss = final - sum(part.contribution for part in parts)
    if abs(loss) > 1e-4:
        parts.append(Part("factor", "age and validity", final / max(final - loss, 1e-6), loss))
    return (*parts, *said)


def _layer_parts(name: str, layer: LayerScores, place: int, weight: float, semantic_weight: float) -> list[Part]:
    values = {"keyword": float(layer.keyword[place]), "semantic": float(layer.semantic[place])}
    shares = {"keyword": 1 - semantic_weight, "semantic": semantic_weight}
    known = [part for part, value in values.items() if not np.isnan(value)]
    if len(known) == 1:
        shares = {known[0]: 1.0}
    return [Part(name, part, values[part], weight * shares[part] * values[part]) for part in known]
