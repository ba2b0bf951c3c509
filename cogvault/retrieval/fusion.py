"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009). Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cogvault.types import FloatArray, IntArray, Ranking


def reciprocal_rank(rankings: Sequence[Ranking], candidates: IntArray, k: int = 60) -> FloatArray:
    """(n,) fused score of each candidate in [0, 1]: the sum of 1 / (k + rank), divided by what rank 1 everywhere gives.

    Args:
        rankings: best first, one a ranker.
        candidates: (n,) distinct chunk ids.
        k: damping; 60 in the paper.
    """
    fused = np.zeros(len(candidates), dtype=np.float64)
    order = np.argsort(candidates)
    for ranking in rankings:
        places = order[np.searchsorted(candidates, ranking.chunks, sorter=order)]
        fused[places] += 1.0 / (k + 1 + np.arange(len(ranking.chunks)))
    return (fused * (k + 1) / max(len(rankings), 1)).astype(np.float32)
