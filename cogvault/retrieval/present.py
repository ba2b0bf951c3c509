"""Scored candidates to hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cogvault.cards.addresses import card_uri, has_card
from cogvault.cards.scan_markdown import without_mark
from cogvault.layers.tokens import estimate_tokens
from cogvault.protocols import Snapshot
from cogvault.retrieval.decay import review_due, validity
from cogvault.retrieval.explain import parts_of
from cogvault.retrieval.hits import Hit
from cogvault.retrieval.ladder import confidence
from cogvault.retrieval.packing import Packed, Piece, pack
from cogvault.retrieval.scoring import Scores
from cogvault.retrieval.snippets import matched_words, snippet
from cogvault.retrieval.succession import SharedGraph
from cogvault.text.queries import query_words
from cogvault.text.tokens import words
from cogvault.types import CardInfo, Chunk, ChunkKind, Evidence, FloatArray, IntArray, Query, StoredChunk
from cogvault.types.listing import marks_of

if TYPE_CHECKING:
    from cogvault.retrieval.request import SearchRequest
    from cogvault.retrieval.search import SearchOptions


NOT_RERANKED: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Found:
    """Scored candidates of one question; places count in ``evidence``."""

    snapshot: Snapshot
    request: SearchRequest
    query: Query
    evidence: Evidence
    scores: Scores
    final: FloatArray
    replaced: Mapping[str, datetime]

    def card(self, place: int) -> CardInfo:
        """The card of a candidate."""
        return self.snapshot.cards[int(self.evidence.cards[place])]

    @property
    def at(self) -> datetime:
        """The instant for which validity is told."""
        return self.request.filter.as_of or self.request.now

    def validity(self, place: int) -> str:
        """Whether a candidate's card holds at that instant."""
        return validity(self.card(place), self.at, self.replaced)


# An answer to more of the questions that are packed would take the room of what was found by itself.
_ANSWERED = 3
_QUESTION_MARKS = ("?", "？", "؟", "\u037e", "?)", '?"', "?*")  # the fourth is the Greek one


class Presenter:
    """Builds hits.

    Args:
        graph: tells which cards a hit is linked with.
    """

    def __init__(self, graph: SharedGraph) -> None:
        self._graph = graph

    def present(
        self, found: Found, chosen: IntArray, options: SearchOptions, reranked: Mapping[int, float] = NOT_RERANKED
    ) -> tuple[Hit, ...]:
        """Hits for the chosen places, in this order.

        Args:
            found: the candidates.
            chosen: places.
            options: the weights that were used.
            reranked: what a cross-encoder said of places that it read.
        """
        if not len(chosen):
            return ()
        stored = found.snapshot.chunks(found.evidence.chunks[chosen].tolist())
        asked = tuple(query_words(found.query.text))
        told = _in_layer(found.request, found.snapshot, [item.card for item in stored])
        hits = []
        for rank, (place, item) in enumerate(zip(chosen.tolist(), stored, strict=True)):
            card, chunk = found.card(place), item.chunk
            matched = matched_words(chunk.text, asked)
            value = round(float(found.final[place]), 6)
            reply = _reply(found, place, item)
            hits.append(
                Hit(
                    id=card.id,
                    file=card.path,
                    uri=card_uri(card.id, partial(has_card, found.snapshot.cards)),
                    title=card.title,
                    type=card.type,
                    tags=card.tags,
                    score=value,
                    confidence=confidence(value, options.thresholds),
                    layer=found.request.layer if told[rank] else "L2",
                    text=told[rank] or chunk.text,
                    snippet=snippet(_told(card, chunk), matched),
                    lines=(chunk.start_line, chunk.end_line),
                    heading=chunk.heading,
                    created=card.created,
                    updated=card.updated,
                    valid=found.validity(place),
                    related=self._graph.related(found.snapshot.cards, card.id) if rank == 0 else (),
                    parts=parts_of(found.scores, place, value, options, reranked.get(place))
                    if found.request.explain
                    else (),
                    matched=matched,
                    speaker=chunk.speaker,
                    at=chunk.at,
                    reply="" if reply is None else reply.text,
                    review_due=review_due(card, found.at),
                )
            )
        return tuple(hits)


def _reply(found: Found, place: int, asked: StoredChunk) -> Chunk | None:
    """The turn behind a turn that ends as a question, when somebody else says it."""
    chunk = asked.chunk
    if chunk.speaker is None or not chunk.text.rstrip().endswith(_QUESTION_MARKS):
        return None
    if chunk.position + 1 >= found.card(place).chunks:
        return None
    (behind,) = found.snapshot.chunks([asked.id + 1])
    return None if behind.chunk.speaker in (None, chunk.speaker) else behind.chunk


def _in_layer(request: SearchRequest, snapshot: Snapshot, cards: Sequence[str]) -> list[str]:
    """The overviews or abstracts that hits are to show; "" = the chunk. A packed answer has its own way."""
    if request.budget_tokens is not None or request.layer not in ("L1", "L0"):
        return [""] * len(cards)
    found = snapshot.layers(cards)
    return [layers.overview if request.layer == "L1" else layers.abstract for layers in found]


def _told(card: CardInfo, chunk: Chunk) -> str:
    """What a snippet is cut from: of a head its description, because the title is shown anyway."""
    return card.description if chunk.kind is ChunkKind.HEAD and card.description else chunk.text


def pack_answer(found: Found, chosen: IntArray, budget: int) -> Packed:
    """Pack the chosen places, best first, into an answer of at most ``budget`` tokens."""
    stored = found.snapshot.chunks(found.evidence.chunks[chosen].tolist())
    places = {(item.card, item.chunk.position): place for place, item in zip(chosen.tolist(), stored, strict=True)}
    asked = dict(zip(chosen.tolist(), stored, strict=True))
    pieces = [_piece(found, place, item.chunk) for place, item in asked.items()]

    def shorter(card: str) -> tuple[str, str]:
        (layers,) = found.snapshot.layers([card])
        return layers.overview, layers.abstract

    strongest = frozenset(chosen[:_ANSWERED].tolist())

    def reply(piece: Piece) -> Piece | None:
        if piece.place not in strongest:
            return None
        behind = _reply(found, piece.place, asked[piece.place])
        if behind is None:
            return None
        return _piece(found, places.get((piece.card, behind.position), piece.place), behind)

    return pack(pieces, shorter, budget, estimate_tokens, found.request.layer, reply)


def _piece(found: Found, place: int, chunk: Chunk) -> Piece:
    card = found.card(place)
    marks = marks_of(found.validity(place), review_due=review_due(card, found.at))
    day = (chunk.at or card.dated).date().isoformat()
    return Piece(
        place=place,
        card=card.id,
        file=card.path,
        note=", ".join((day, *marks)),
        position=chunk.position,
        lines=(chunk.start_line, chunk.end_line),
        # A turn without its markup and timestamp, which the note already tells.
        text=chunk.text if chunk.speaker is None else f"{chunk.speaker}: {without_mark(chunk.text)}",
    )


def shown_as(hits: Sequence[Hit], packed: Packed) -> tuple[Hit, ...]:
    """Hits with the layer in which the packed answer tells them."""
    return tuple(replace(hit, layer=layer) for hit, (_, layer) in zip(hits, packed.chosen, strict=True))


def word_overlap(texts: Sequence[str]) -> FloatArray:
    """(n, n) Jaccard likeness of the texts' words."""
    bags = [frozenset(words(text)) for text in texts]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in bags] for one in bags], dtype=np.float32)
