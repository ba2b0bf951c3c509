"""A card, its links and its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from cogvault.types.base import EMPTY_META, JsonValue, Problem


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
class KnownFile:
    """A card's file as an index knows it, which is all that a look for changes compares.

    Attributes:
        path: vault-relative path on disk.
        hash: hex SHA-256 of the file's bytes.
    """

    path: str
    stamp: Stamp
    hash: str


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
class CardRecord:
    """A card with its chunks, ready to be indexed. ``chunks[0]`` is always the head chunk.

    Attributes:
        card: the card.
        chunks: its chunks.
        stamp: of its file.
        hash: of its file's content.
        abstract: L0.
        overview: L1.
        layers_hash: of all of the card that the two were made from; "" = they are not to be kept when it changes.
    """

    card: Card
    chunks: tuple[Chunk, ...]
    stamp: Stamp
    hash: str
    abstract: str = ""
    overview: str = ""
    layers_hash: str = ""


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
