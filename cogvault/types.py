"""Values that flow through cogvault: frozen, slotted, free of IO.

Dates are timezone-aware ``datetime`` in UTC; a date without a zone in a card is taken as UTC, so that a
ranking never depends on the machine's zone. Line numbers are 1-based, ranges inclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float32]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"

EMPTY_META: Mapping[str, JsonValue] = MappingProxyType({})


class Status(StrEnum):
    """What an answer is worth. ``empty`` is an honest "nothing found"; a fault is never ``empty``."""

    OK = "ok"
    EMPTY = "empty"
    STALE = "stale"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one file, found without stopping.

    Attributes:
        path: vault-relative path.
        code: stable kebab-case name of the kind, for example ``frontmatter-invalid``.
        message: what is wrong, in one sentence.
        line: 1-based line, when known.
        key: frontmatter key, when one is concerned.
    """

    path: str
    code: str
    message: str
    line: int | None = None
    key: str | None = None


class LinkKind(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    EMBED = "embed"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Link:
    """One link in a card's body.

    Attributes:
        target: what it points at, as written, without heading, block or text (percent-decoded for Markdown links).
        kind: how it is written.
        line: 1-based line in the file.
        heading: text after ``#``, or None.
        block: text after ``^``, or None.
        text: shown text after ``|`` (or between the brackets of a Markdown link), or None.
    """

    target: str
    kind: LinkKind
    line: int
    heading: str | None = None
    block: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """One parsed Markdown file.

    Attributes:
        id: vault-relative path with ``/``, NFC, with its suffix; unique in the vault.
        path: the same path as it is on disk.
        title: ``title``, else ``name``, else first heading, else file stem.
        body: text below the frontmatter, newlines as ``\\n``, BOM removed.
        body_line: 1-based line of the file on which ``body`` starts.
        dated: the date that decay and date filters use: ``date``, else ``updated``, else ``created``; None = use mtime.
        meta: every frontmatter key as a JSON value, unknown keys included.
        writable: False when the frontmatter is broken or unterminated: metadata edits are refused.
    """

    id: str
    path: str
    title: str
    body: str
    body_line: int = 1
    name: str | None = None
    description: str = ""
    type: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    dated: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    importance: float | None = None
    pinned: bool = False
    source: str | None = None
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY_META)
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()
    writable: bool = True


@dataclass(frozen=True, slots=True)
class CardInfo:
    """What an index knows of a card without opening its file: Card without body, plus the file's stamp.

    Attributes:
        dated: never None here: the card's own date, else the file's mtime.
        hash: hex SHA-256 of the file's bytes.
        chunks: how many chunks it has, the head chunk included.
    """

    id: str
    path: str
    title: str
    dated: datetime
    stamp: Stamp
    hash: str
    chunks: int = 0
    name: str | None = None
    description: str = ""
    type: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    importance: float | None = None
    pinned: bool = False
    source: str | None = None
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY_META)
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()
    writable: bool = True


class ChunkKind(StrEnum):
    """What a chunk is made of. ``head`` is the card's own description of itself, not a piece of its body."""

    HEAD = "head"
    TEXT = "text"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable piece of a card.

    Attributes:
        position: order inside the card; the head chunk is 0, body chunks count from 1.
        kind: head, text or turn.
        text: lines ``start_line`` to ``end_line`` of the file as they stand (head: title, names, tags, description).
        terms_text: what the keyword index analyses (``text`` plus heading words, speaker, resolved dates).
        embed_text: what the model embeds, within its token budget; "" = no vector is made.
        heading: heading path, outermost first.
        speaker: who speaks, for a dialogue turn.
        at: when, for a dialogue turn that says so.
    """

    position: int
    kind: ChunkKind
    text: str
    terms_text: str
    embed_text: str
    start_line: int
    end_line: int
    heading: tuple[str, ...] = ()
    speaker: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """Cheap hint that a file changed: any difference counts.

    Attributes:
        size: bytes.
        mtime_ns: modification time, nanoseconds since the epoch.
        inode: inode number, 0 where there is none.
        ctime_ns: change time of the inode, which no program can set back; 0 where there is none (Windows).
    """

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class CardRecord:
    """A card with its chunks, ready to be indexed. ``chunks[0]`` is always the head chunk."""

    card: Card
    chunks: tuple[Chunk, ...]
    stamp: Stamp
    hash: str
    abstract: str = ""
    overview: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summarizer makes of one card: its layers, and how it got them.

    Attributes:
        abstract: L0, about 100 tokens; "" only for a card without title and text.
        overview: L1, 500 to 2,000 tokens, never longer than the card's body.
        notes: why they are not what the summarizer promises (a model that did not answer); empty = they are.
    """

    abstract: str
    overview: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What shaped an index. A different ``chunking`` rebuilds all, a different ``model`` the vectors.

    Attributes:
        chunking: fingerprint of parser, chunker, analyzer and schema versions and of the options that shape chunks.
        model: fingerprint of the embedder whose vectors serve now, "" = none yet.
        model_name: what a user would write to select that model, "" = none yet.
        dim: width of its vectors, 0 = none yet.
        floor: cosine of unrelated texts of this vault, measured with that model; None = not measured.
        measured: names the texts that ``floor`` was measured on, so that it is measured again only when they change.
    """

    chunking: str = ""
    model: str = ""
    model_name: str = ""
    dim: int = 0
    floor: float | None = None
    measured: str = ""


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Vectors of some chunks, made by one model.

    Attributes:
        model: the embedder's fingerprint.
        chunks: (n,) chunk ids, as given by ``Snapshot.pending``.
        vectors: (n, dim) float32, unit length.
    """

    model: str
    chunks: IntArray
    vectors: FloatArray


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One atomic change of an index. Order of effect: remove, put, restamp, identity, vectors.

    Attributes:
        put: cards to add or replace, by id. A chunk whose ``embed_text`` the card's old version (or any card removed or
            replaced by the same change) had keeps its vector, so that only changed chunks are embedded again.
        remove: ids to delete; unknown ids are ignored.
        restamp: new stamps of cards whose content did not change.
        identity: replaces the index's identity. A new ``model`` makes that model's vectors serve and drops all others.
        vectors: rows for chunks; rows of chunks that are gone meanwhile are dropped.
    """

    put: tuple[CardRecord, ...] = ()
    remove: tuple[str, ...] = ()
    restamp: Mapping[str, Stamp] = field(default_factory=dict)
    identity: IndexIdentity | None = None
    vectors: VectorBatch | None = None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as an index gives it back. ``id`` is never reused for other text."""

    id: int
    card: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class CardLayers:
    """What a card says of itself in fewer words: L0 and L1 (``CardRecord.abstract`` and ``.overview``)."""

    abstract: str
    overview: str


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Size and state of one snapshot.

    Attributes:
        sequence: number of the last change that is part of it.
        vectors: chunks that have a vector of the serving model.
        embeddable: chunks that should have one (``embed_text`` not empty).
    """

    sequence: int
    cards: int
    chunks: int
    vectors: int
    embeddable: int
    identity: IndexIdentity
    bytes_on_disk: int = 0
    notes: tuple[str, ...] = ()


class TermKind(StrEnum):
    """The three forms in which a word is searchable (design.md, decision 2)."""

    EXACT = "exact"
    STEM = "stem"
    GRAM = "gram"


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
        path: folder or card, vault-relative; matches on path boundaries.
        after: ``dated`` at or after.
        before: ``dated`` before.
        as_of: valid at this instant: created (or valid_from) not after it, valid_until after it.
        where: every key equals the value (or holds it, when the card's value is a list); compared as text.
        ids: only these cards, None = all.
        without: never these cards.
    """

    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    path: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    as_of: datetime | None = None
    where: tuple[tuple[str, str], ...] = ()
    ids: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True when every card passes."""
        return self == Filter()


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

    A frequency is n (1 - product over the distinct words w that give the term of (1 - n_w / n)), where n_w of the n live
    chunks (cards) hold the word w: exact for a term that one word gives, and a function of the live cards only, never of
    the index's history. It needs two counters a word.
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
