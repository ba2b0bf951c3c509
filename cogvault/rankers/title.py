"""Candidates whose title, name, alias or file name looks like the query."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from rapidfuzz import fuzz, process

from cogvault.indexes.filters import matches
from cogvault.protocols import Snapshot
from cogvault.text.normalise import fold
from cogvault.types import CardInfo, Filter, IntArray, Query, Ranking

CUTOFF = 75.0


@dataclass(frozen=True, slots=True)
class _Names:
    """Every name of every card, shortest first: folded text, its length, its card's index in ``Snapshot.cards``."""

    cards: Sequence[CardInfo]
    texts: list[str]
    lengths: IntArray
    owners: IntArray

    def near(self, length: int) -> tuple[int, int]:
        """Range of the names that can reach the cutoff for a query of this length.

        Similarity is at most 2 * shorter / (shorter + longer), so most names need not be compared with a question.
        """
        share = CUTOFF / (200.0 - CUTOFF)
        # One character more either way, so that rounding leaves nothing out.
        first = np.searchsorted(self.lengths, length * share - 1, side="left")
        end = np.searchsorted(self.lengths, length / share + 1, side="right")
        return int(first), int(end)


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
        names = self._of(snapshot)
        text = name_form(query.text)
        if not text or not names.texts:
            return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))
        best: dict[int, float] = {}
        first, end = names.near(len(text))
        for _, similarity, place in process.extract(
            text, names.texts[first:end], scorer=fuzz.ratio, processor=None, score_cutoff=CUTOFF, limit=None
        ):
            owner = int(names.owners[first + place])
            best[owner] = max(best.get(owner, 0.0), similarity / 100.0)
        ranked = sorted(best.items(), key=lambda item: (-item[1], names.cards[item[0]].id))
        passed = [(card, value) for card, value in ranked if matches(names.cards[card], filter)][:limit]
        heads = [snapshot.of_card(names.cards[card].id)[0].id for card, _ in passed]
        return Ranking(np.array(heads, np.int64), np.array([value for _, value in passed], np.float32))

    def _of(self, snapshot: Snapshot) -> _Names:
        """Folded names of the snapshot's cards, made once for each list of cards."""
        cards = snapshot.cards
        with self._lock:
            if self._names is None or self._names.cards is not cards:
                self._names = _collect(cards)
            return self._names


def name_form(text: str) -> str:
    """A name or query for comparison: folded, separators as single spaces, without an ``.md`` ending."""
    folded = fold(text).removesuffix(".md")
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _collect(cards: Sequence[CardInfo]) -> _Names:
    found: list[tuple[str, int]] = []
    for place, card in enumerate(cards):
        stem = PurePosixPath(card.id).stem
        for name in dict.fromkeys(
            name_form(name) for name in (card.title, card.name or "", stem, *card.aliases) if name
        ):
            found.append((name, place))
    found.sort(key=lambda item: len(item[0]))
    lengths = np.array([len(name) for name, _ in found], np.int64)
    return _Names(cards, [name for name, _ in found], lengths, np.array([place for _, place in found], np.int64))
