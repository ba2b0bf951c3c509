"""Answers: hits, their parts and how they were found. Values that know how to show themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, overload

from cogvault.retrieval.notebook import as_html
from cogvault.retrieval.packing import Passage
from cogvault.types import JsonValue, Status, to_document, to_json
from cogvault.types.listing import marks_of


@dataclass(frozen=True, slots=True)
class Part:
    """One contribution to a hit's score.

    Attributes:
        layer: ``L2``, ``L1``, ``L0``, or ``bonus`` and ``factor`` for what acts on the sum, ``sum`` for all of it
            (``rrf``), and ``order`` for what orders hits without changing their scores (``rerank``).
        name: ``keyword``, ``semantic``, ``title``, ``speaker``, ``day``, ``age and validity``, ``rerank``, ``rrf``.
        value: the part itself, 0 to 1.
        contribution: what it adds to the score; parts of one hit add up to its score.
    """

    layer: str
    name: str
    value: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked answer: a card, its best chunk, and scores. Fields are also readable as ``hit["score"]``.

    Attributes:
        id: the card's id, as ``Vault.read`` takes it.
        file: vault-relative path on disk.
        uri: ``cogvault://`` address of the card.
        score: 0 to 1, absolute: comparable across queries and vaults. A reranker changes the order and not this.
        confidence: ``high``, ``medium``, ``low`` (the rung of the threshold ladder) or ``weak``.
        layer: how much of the card ``text`` shows: ``L2`` chunk, ``L1`` overview, ``L0`` abstract.
        text: the chunk as it stands in the file.
        snippet: a short excerpt around the matched words, on one line.
        lines: first and last line in the file, 1-based.
        heading: heading path of the chunk.
        valid: ``current``, ``superseded``, ``expired`` or ``future``.
        review_due: True when the card says ``review_by`` and that day has come.
        related: ids of cards linked from or to this one (top hit only).
        parts: contributions to the score; empty unless ``explain=True``.
        matched: query words found in the chunk.
        reply: of a turn that ends as a question: the turn behind it, when somebody else says it.
    """

    id: str
    file: str
    uri: str
    title: str
    type: str | None
    tags: tuple[str, ...]
    score: float
    confidence: str
    layer: str
    text: str
    snippet: str
    lines: tuple[int, int]
    heading: tuple[str, ...]
    created: datetime | None
    updated: datetime | None
    valid: str
    related: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    matched: tuple[str, ...] = ()
    speaker: str | None = None
    at: datetime | None = None
    reply: str = ""
    review_due: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """What a reader should know before trusting it: that it does not hold, that somebody should look at it."""
        return marks_of(self.valid, review_due=self.review_due)

    @property
    def citation(self) -> str:
        """Where the text stands: ``path#L10-L24``."""
        first, last = self.lines
        return f"{self.file}#L{first}" if first == last else f"{self.file}#L{first}-L{last}"

    def __getitem__(self, key: str) -> Any:
        if key not in self.__slots__:
            raise KeyError(key)
        return getattr(self, key)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form; dates as ISO 8601 text, ``citation`` added."""
        return {**to_document(self), "citation": self.citation}


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a search: its name, how many candidates it left, and its time in milliseconds."""

    name: str
    count: int
    ms: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about.

    Attributes:
        query: the part of the query that was used.
        terms: its distinct words.
        rung: the last that added a hit: ``0.45`` and so on, ``user scope``, ``keyword scan``; ``min_score`` when one
            was given, ``no threshold`` for ``rrf`` without one, or ``none``.
        filter: the filter in words, "" = all cards.
        stages: steps in order with counts and times.
        notes: what was cut, missing or failed, in sentences.
        sequence: state of the index that answered.
    """

    query: str
    terms: tuple[str, ...] = ()
    rung: str = "none"
    filter: str = ""
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    sequence: int = 0

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """Ranked hits, best first, with what the answer is worth.

    Attributes:
        status: ``ok``, ``empty``, ``stale``, ``degraded`` or ``failed``.
        reason: why the status is not ``ok``, in a sentence.
        hint: what to do about it.
        near_misses: the nearest cards below the threshold, when the answer is empty.
        text: the packed answer, when ``budget_tokens`` was given.
        tokens: its size, by ``cogvault.layers.tokens.estimate_tokens``.
        passages: what the packed answer tells, card by card.
    """

    items: tuple[Hit, ...]
    status: Status
    trace: Trace
    reason: str = ""
    hint: str = ""
    near_misses: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    passages: tuple[Passage, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.items)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form of the whole answer."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "hint": self.hint,
            "hits": [hit.to_dict() for hit in self.items],
            "near_misses": [hit.to_dict() for hit in self.near_misses],
            "text": self.text,
            "tokens": self.tokens,
            "passages": to_json(self.passages),
            "trace": self.trace.to_dict(),
        }

    def _repr_html_(self) -> str:
        return as_html(self)
