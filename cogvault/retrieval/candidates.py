"""Candidates: the union of what the rankers found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cogvault.indexes.local.arrays import distinct
from cogvault.protocols import Ranker, Snapshot
from cogvault.types import Filter, FloatArray, IntArray, Query, Ranking

TITLE = "title"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Distinct chunks found by any ranker.

    Attributes:
        chunks: (n,) chunk ids, ascending.
        rankings: what each ranker gave, titles left out (they rank cards, not chunks).
        title: what the title ranker gave.
    """

    chunks: IntArray
    rankings: tuple[Ranking, ...]
    title: Ranking | None

    def titles(self, cards: IntArray) -> FloatArray:
        """(n,) title similarity of each candidate's card; 0 where the title ranker did not find it.

        Args:
            cards: (n,) the candidates' cards, as in ``Evidence.cards``.
        """
        similarity = np.zeros(len(cards), dtype=np.float32)
        if self.title is None or not len(self.title.chunks):
            return similarity
        heads = np.searchsorted(self.chunks, self.title.chunks)
        for card, value in zip(cards[heads], self.title.scores, strict=True):
            similarity[cards == card] = value
        return similarity


def gather(rankers: Mapping[str, Ranker], snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Candidates:
    """Ask every ranker for its ``limit`` best chunks."""
    found = {name: ranker.rank(snapshot, query, filter, limit) for name, ranker in rankers.items()}
    title = found.pop(TITLE, None)
    rankings = tuple(ranking for ranking in found.values() if len(ranking.chunks))
    parts = [ranking.chunks for ranking in (*rankings, *([title] if title else []))]
    chunks = distinct(np.concatenate(parts)) if parts else np.empty(0, np.int64)
    return Candidates(chunks, rankings, title)
