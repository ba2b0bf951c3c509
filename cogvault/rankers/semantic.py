"""Candidates that mean what the query means."""

from __future__ import annotations

import numpy as np

from cogvault.protocols import Snapshot
from cogvault.types import Filter, Query, Ranking


class SemanticRanker:
    """Cosine of the query's vector and each chunk's. Scores are cosines; nothing is found without a vector."""

    name = "semantic"

    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        """The ``limit`` best chunks by cosine among the cards that pass the filter."""
        if query.vector is None:
            return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
        return snapshot.semantic(query.vector, filter, limit)
