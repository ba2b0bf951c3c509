"""Candidates whose title, name, alias or file name looks like the query."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np
from rapidfuzz import fuzz, process

from cogvault.indexes.difference import difference
from cogvault.indexes.filters import matches
from cogvault.protocols import Snapshot
from cogvault.text.normalise import fold
from cogvault.types import CardInfo, Filter, Query, Ranking

CUTOFF = 75.0


class _Names:
    """Every name of every card, shortest first: folded text, and its card. Follows from one snapshot to the next."""

    cards: Sequence[CardInfo]
    texts: list[str]
    owners: list[CardInfo]

    def __init__(self, cards: Sequence[CardInfo]) -> None:
        self._make(cards)

    def follow(self, cards: Sequence[CardInfo]) -> None:
        """Hold the names of another snapshot."""
        if cards is self.cards:
            return
        change = difference(self.cards, cards)
        if change.is_large:
            self._make(cards)
            return
        for card in change.gone:
            for name in _names_of(card):
                place = self._place(name, card)
                del self.texts[place], self.owners[place]
        for card in change.come:
            for name in _names_of(card):
                place = self._place(name, card)
                self.texts.insert(place, name)
                self.owners.insert(place, card)
        self.cards = cards

    def near(self, length: int) -> tuple[int, int]:
        """Range of the names that can reach the cutoff for a query of this length.

        Similarity is at most 2 * shorter / (shorter + longer), so most names need not be compared with a question.
        """
        share = CUTOFF / (200.0 - CUTOFF)
        # One character more either way, so that rounding leaves nothing out.
        return (
            bisect_left(self.texts, length * share - 1, key=len),
            bisect_right(self.texts, length / share + 1, key=len),
        )

    def _place(self, name: str, card: CardInfo) -> int:
        """Where a name of a card stands, or is to stand."""

        def order(place: int) -> tuple[int, str, str]:
            return len(self.texts[place]), self.texts[place], self.owners[place].id

        return bisect_left(range(len(self.texts)), (len(name), name, card.id), key=order)

    def _make(self, cards: Sequence[CardInfo]) -> None:
        found = [(name, card) for card in cards for name in _names_of(card)]
        found.sort(key=lambda item: (len(item[0]), item[0], item[1].id))
        self.texts = [name for name, _ in found]
        self.owners = [card for _, card in found]
        # Last, so that what was broken off is not taken for the names of these cards.
        self.cards = cards


class TitleRanker:
    """Fuzzy match (normalized InDel similarity of rapidfuzz) of the whole query and a whole name, typos forgiven.

    Scores are similarities from 0.75 to 1. The chunk that stands for a card is its head chunk.
    """

    name = "title"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: _Names | None = None

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
                names = _Names(cards)
            names.follow(cards)
            self._names = names
            first, end = names.near(len(text))
            texts, owners = names.texts[first:end], names.owners[first:end]
        found = process.extract(text, texts, scorer=fuzz.ratio, processor=None, score_cutoff=CUTOFF, limit=None)
        return [(owners[place], similarity / 100.0) for _, similarity, place in found]


def name_form(text: str) -> str:
    """A name or query for comparison: folded, separators as single spaces, without an ``.md`` ending."""
    folded = fold(text).removesuffix(".md")
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _names_of(card: CardInfo) -> list[str]:
    """Names of a card for comparison, each once."""
    names = (card.title, card.name or "", PurePosixPath(card.id).stem, *card.aliases)
    return list(dict.fromkeys(name_form(name) for name in names if name))
