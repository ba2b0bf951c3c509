"""What is asked of an index, and what it answers with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cogvault.types.arrays import FloatArray, IntArray


class TermKind(StrEnum):
    """The three forms in which a word is searchable (design.md, decision 2)."""

    EXACT = "exact"
    STEM = "stem"
    GRAM = "gram"

    # That of an enumeration is a function of Python, and each search asks for some hundred.
    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Term:
    """One query term. ``weight`` multiplies its BM25 contribution."""

    kind: TermKind
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """A query, analyzed once for all rankers.

    Attributes:
        text: what was asked, cut to the documented cap.
        terms: its terms for keyword search, each kind and text once.
        vector: (dim,) float32 unit vector, None = no model.
    """

    text: str
    terms: tuple[Term, ...]
    vector: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cards a search may return. Empty = all. Text is compared after ``text.normalise.fold``.

    Attributes:
        types: any of these types.
        tags: all of these tags.
        paths: any of these folders or cards, vault-relative; matches on path boundaries. Empty = everywhere.
        as_written: ``paths`` are compared as they are written, in NFC, instead of folded.
        outside: never cards in one of these folders, written exactly so.
        after: ``dated`` at or after.
        before: ``dated`` before.
        as_of: valid at this instant: created (or valid_from) not after it, valid_until after it.
        where: every key equals the value (or holds it, when the card's value is a list); ``a.b`` is ``b`` below ``a``.
            A number is compared by value, text as text.
        ids: only these cards, None = all.
        without: never these cards.
    """

    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    as_written: bool = False
    outside: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    as_of: datetime | None = None
    where: tuple[tuple[str, str | int | float], ...] = ()
    ids: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True when every card passes."""
        return self == _ALL


_ALL: Final = Filter()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Chunks best first: equal scores are ordered by card id, then position.

    Attributes:
        chunks: (n,) chunk ids.
        scores: (n,) float32, descending, in the ranker's own unit.
    """

    chunks: IntArray
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class LayerEvidence:
    """What one layer's unit (chunk, window or card) around each candidate holds of a query.

    Attributes:
        counts: (n, terms) float32: how often each query term stands in the unit.
        lengths: (n,) float32: words in the unit.
        mean_length: words in the average unit of the index.
        cosines: (n,) float32: cosine between query and the mean of the unit's chunk vectors; NaN = no vector.
    """

    counts: FloatArray
    lengths: FloatArray
    mean_length: float
    cosines: FloatArray


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that scoring needs of some candidate chunks.

    Attributes:
        chunks: (n,) chunk ids, as asked.
        cards: (n,) index of each chunk's card in ``Snapshot.cards``.
        positions: (n,) position of each chunk in its card.
        detail: L2, the chunk itself.
        window: L1, the chunk and its neighbours (``window`` body chunks either side; a head chunk: itself).
        card: L0, the whole card, its head chunk included.
        chunk_frequency: (terms,) chunks of the index that hold each term, estimated from words (below).
        card_frequency: (terms,) cards that hold each term, estimated likewise.
        chunk_count: chunks in the index.
        card_count: cards in the index.

    A frequency is n (1 - product over the distinct words w that give the term of (1 - n_w / n)), where n_w of the n
    live chunks (cards) hold the word w: exact for a term that one word gives, and a function of the live cards only,
    never of the index's history. It needs two counters a word.
    """

    chunks: IntArray
    cards: IntArray
    positions: IntArray
    detail: LayerEvidence
    window: LayerEvidence
    card: LayerEvidence
    chunk_frequency: FloatArray
    card_frequency: FloatArray
    chunk_count: int
    card_count: int
