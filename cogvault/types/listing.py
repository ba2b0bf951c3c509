"""What a vault says of its cards without opening them: lists, folders, the archive, the history of a fact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cogvault.types.base import JsonValue, to_document


def marks_of(valid: str, *, review_due: bool) -> tuple[str, ...]:
    """What a reader of a card is told of it, as text; ``valid`` is ``current`` and so on."""
    return (*(() if valid == "current" else (valid,)), *(("review due",) if review_due else ()))


@dataclass(frozen=True, slots=True)
class ListedCard:
    """One card of a list.

    Attributes:
        uri: its ``cogvault://`` address.
        dated: its own date, else its file's.
        valid: ``current``, ``superseded``, ``expired`` or ``future``.
        size: bytes of its file.
        review_due: True when the card says ``review_by`` and that day has come.
    """

    id: str
    uri: str
    title: str
    type: str | None
    tags: tuple[str, ...]
    dated: datetime
    valid: str
    size: int
    review_due: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """What a reader should know before trusting it: that it does not hold now, that somebody should look at it."""
        return marks_of(self.valid, review_due=self.review_due)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and what is below it.

    Attributes:
        path: vault-relative; "" = the vault.
        count: cards in it and below.
        folders: ordered by path.
        cards: directly in it, ordered by id.
    """

    path: str
    count: int
    folders: tuple[Folder, ...]
    cards: tuple[ListedCard, ...]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)


@dataclass(frozen=True, slots=True)
class ArchivedCard:
    """A card that was forgotten and can be restored.

    Attributes:
        id: the id it had, and gets again.
        version: 1 for the first card of this id that was archived, 2 for the next, and so on.
        path: vault-relative path of its file in the archive.
        modified: when its text last changed.
        size: bytes of its file.
    """

    id: str
    version: int
    path: str
    modified: datetime
    size: int

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A card as one version of a fact.

    Attributes:
        since: when it began to hold: ``valid_from``, else ``created``; None = not said.
        until: when it ceased to, None = it holds still.
        valid: ``current``, ``superseded``, ``expired`` or ``future``, now.
        supersedes: ids of the cards whose place it took.
        superseded_by: ids of the cards that took its place.
    """

    id: str
    uri: str
    title: str
    since: datetime | None
    until: datetime | None
    valid: str
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...]

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)
