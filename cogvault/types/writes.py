"""What a write into a vault did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import TypeAlias

from cogvault.errors import CogvaultError
from cogvault.types.base import JsonValue, Problem, to_document

# An instant as callers give it: without a zone it is UTC; text is ISO 8601.
Moment: TypeAlias = datetime | date | str | None


class Action(StrEnum):
    """What happened to a card. ``existing`` and ``unchanged``: nothing was written, as nothing had to be."""

    CREATED = "created"
    EXISTING = "existing"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SUPERSEDED = "superseded"
    MOVED = "moved"
    ARCHIVED = "archived"
    RESTORED = "restored"
    PURGED = "purged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SimilarCard:
    """A card that says nearly the same.

    Attributes:
        similarity: 0 to 1; 1 = equal words.
    """

    id: str
    title: str
    similarity: float


@dataclass(frozen=True, slots=True)
class SecretFound:
    """A place that looks like a key or token; never its value.

    Attributes:
        kind: what it looks like.
        line: 1-based line in the card's file.
    """

    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one write did.

    Attributes:
        id: the card, where it is now; "" when the write was refused before it had one.
        uri: its ``cogvault://`` address.
        hash: hex SHA-256 of the file's bytes now, to hand to the next ``update`` as ``base_hash``; "" = no file.
        similar: cards that say nearly the same, most similar first.
        secrets: what looks like a secret in what was written.
        links_rewritten: links in the text of cards, the moved one included, that were made to lead to the right place.
        problems: files that could not be brought along (a card that links here and cannot be read, a person's abstract
            that may quote a purged card), arguments that the content's own frontmatter overruled or that the card which
            has the text already does not say, keys that are not read as they are written (``Pinned``), or the one
            reason why this item of a batch was refused.
    """

    id: str
    action: Action
    uri: str = ""
    hash: str = ""
    similar: tuple[SimilarCard, ...] = ()
    secrets: tuple[SecretFound, ...] = ()
    links_rewritten: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def is_done(self) -> bool:
        """False for an item of a batch that was refused."""
        return self.action is not Action.REFUSED

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)


def refused(error: CogvaultError) -> WriteResult:
    """The result of an item of a batch that was refused."""
    problem = Problem(error.path or "", "refused", str(error), error.line, error.key)
    return WriteResult("", Action.REFUSED, problems=(problem,))


@dataclass(frozen=True, slots=True)
class Draft:
    """A card that is to be written.

    Attributes:
        content: its text; may bring frontmatter of its own, which is kept whole and completed.
        title: None = that of the content: its frontmatter's, its first heading, or its first words.
        type: any word; None = that of the content's frontmatter, or ``note``.
        tags: words.
        description: one line on what it says; None = taken from the text.
        to: folder, path or address to write to; None = the vault's folder.
        importance: 0 to 1.
        pinned: True for what never ages and is never swept.
        valid_from, valid_until: when it holds.
        source: where it comes from.
        meta: more frontmatter keys.
        redact: mask what looks like a secret before writing.
    """

    content: str
    title: str | None = None
    type: str | None = None
    tags: Sequence[str] = ()
    description: str | None = None
    to: str | None = None
    importance: float | None = None
    pinned: bool | None = None
    valid_from: Moment = None
    valid_until: Moment = None
    source: str | None = None
    meta: Mapping[str, object] | None = None
    redact: bool = False
