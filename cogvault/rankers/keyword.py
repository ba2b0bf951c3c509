"""Candidates that hold words of the query."""

from __future__ import annotations

from cogvault.protocols import Snapshot
from cogvault.types import Filter, Query, Ranking


class KeywordRanker:
    """Weighted BM25 over exact words, stems and grams. Scores are the index's own and not comparable across indexes."""

    name = "keyword"

    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        """The ``limit`` best chunks by keyword among the cards that pass the filter."""
        return snapshot.keyword(query.terms, filter, limit)
