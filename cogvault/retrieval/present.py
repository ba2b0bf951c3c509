"""Scored candidates to hits."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cogvault.protocols import Snapshot
from cogvault.rankers.links import LinkGraph
from cogvault.retrieval.decay import validity
from cogvault.retrieval.explain import parts_of
from cogvault.retrieval.hits import Hit, card_uri
from cogvault.retrieval.ladder import confidence
from cogvault.retrieval.scoring import Scores
from cogvault.retrieval.snippets import matched_words, snippet
from cogvault.text.queries import query_words
from cogvault.text.tokens import words
from cogvault.types import Evidence, FloatArray, IntArray, Query

if TYPE_CHECKING:
    from cogvault.retrieval.search import SearchOptions, SearchRequest


class Presenter:
    """Builds hits. Keeps the link graph of the last snapshot, which is costly and rarely changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: LinkGraph | None = None

    def present(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        query: Query,
        evidence: Evidence,
        scores: Scores,
        final: FloatArray,
        chosen: IntArray,
        options: SearchOptions,
    ) -> tuple[Hit, ...]:
        """Hits for the chosen candidates (places in ``evidence``), in this order."""
        stored = snapshot.chunks(evidence.chunks[chosen].tolist())
        asked = tuple(query_words(query.text))
        at = request.filter.as_of or request.now
        hits = []
        for rank, (place, item) in enumerate(zip(chosen.tolist(), stored, strict=True)):
            card = snapshot.cards[int(evidence.cards[place])]
            chunk = item.chunk
            matched = matched_words(chunk.text, asked)
            value = round(float(final[place]), 6)
            hits.append(
                Hit(
                    id=card.id,
                    file=card.path,
                    uri=card_uri(card.id),
                    title=card.title,
                    type=card.type,
                    tags=card.tags,
                    score=value,
                    confidence=confidence(value, options.thresholds),
                    layer="L2",
                    text=chunk.text,
                    snippet=snippet(chunk.text, matched),
                    lines=(chunk.start_line, chunk.end_line),
                    heading=chunk.heading,
                    created=card.created,
                    updated=card.updated,
                    valid=validity(card, at),
                    related=self._related(snapshot, card.id) if rank == 0 else (),
                    parts=parts_of(scores, place, value, options) if request.explain else (),
                    matched=matched,
                    speaker=chunk.speaker,
                    at=chunk.at,
                )
            )
        return tuple(hits)

    def _related(self, snapshot: Snapshot, id: str) -> tuple[str, ...]:
        cards = snapshot.cards
        with self._lock:
            if self._graph is None or self._graph.cards is not cards:
                self._graph = LinkGraph(cards)
            return self._graph.related(id)


def word_overlap(texts: Sequence[str]) -> FloatArray:
    """(n, n) Jaccard likeness of the texts' words."""
    bags = [frozenset(words(text)) for text in texts]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in bags] for one in bags], dtype=np.float32)
