"""Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998). Pure."""

from __future__ import annotations

import numpy as np

from cogvault.types import FloatArray, IntArray


def diversify(scores: FloatArray, similarity: FloatArray, lambda_: float, limit: int) -> IntArray:
    """Order of at most ``limit`` candidates, each the best of lambda * score - (1 - lambda) * likeness to those chosen.

    Args:
        scores: (n,) relevance in [0, 1].
        similarity: (n, n) likeness in [0, 1].
        lambda_: 1 = relevance only.
        limit: how many to choose.
    """
    left = list(range(len(scores)))
    chosen: list[int] = []
    nearest = np.zeros(len(scores), dtype=np.float32)
    while left and len(chosen) < limit:
        values = lambda_ * scores[left] - (1 - lambda_) * nearest[left]
        best = left.pop(int(np.argmax(values)))
        chosen.append(best)
        nearest = np.maximum(nearest, similarity[best])
    return np.array(chosen, dtype=np.int64)
