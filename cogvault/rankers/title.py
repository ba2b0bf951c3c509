"""Candidates whose title, name, alias or file name looks like the query."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz, process

from cogvault.indexes.filters import matches
from cogvault.protocols import Snapshot
from cogvault.rankers.names import Names, name_form
from cogvault.types import CardInfo, Filter, Query, Ranking

CUTOFF = 75.0


class TitleRanker:
    """Fuzzy match (normalized InDel similarity of rapidfuzz) of the whole query and a whole name, typos forgiven.

    Scores are similarities from 0.75 to 1. The chunk that stands for a card is its head chunk.
    """

    name = "title"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: Names | None = None

    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        """Head chunks of the ``limit`` cards with the most similar name, among the cards that pass the filter."""
        text = name_form(query.text)
        best: dict[str, tuple[float, CardInfo]] = {}
        for owner, similarity in self._similar(snapshot.cards, text):
            if similarity > best.get(owner.id, (0.0, owner))[0]:
                best[owner.id] = similarity, owner
        ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
        passed = [(id, value) for id, (value, card) in ranked if matches(card, filter)][:limit]
        heads = [snapshot.of_card(id)[0].id for id, _ in passed]
        return Ranking(np.array(heads, np.int64), np.array([value for _, value in passed], np.float32))

    def _similar(self, cards: Sequence[CardInfo], text: str) -> list[tuple[CardInfo, float]]:
        """Cards that have a name like the text, with its similarity."""
        if not text:
            return []
        with self._lock:
            # Nothing is kept while they follow: broken off, by Ctrl-C for example, they are names of no snapshot.
            names, self._names = self._names, None
            if names is None:
                names = Names(cards)
            names.follow(cards)
            self._names = names
            near = names.near(text, CUTOFF / 100)
        texts = [name for name, _ in near]
        found = process.extract(text, texts, scorer=fuzz.ratio, processor=None, score_cutoff=CUTOFF, limit=None)
        return [(near[place][1], similarity / 100.0) for _, similarity, place in found]
