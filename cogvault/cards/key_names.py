"""Frontmatter keys that are not read because of how they are written, though somebody plainly meant a known one. Pure.

They are told, not taken for the known key: YAML tells ``Pinned`` from ``pinned``, and so does every other program that
reads the card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from cogvault.text.normalise import fold

__all__ = ["KNOWN_KEYS", "Misnamed", "misnamed", "with_nested"]

T = TypeVar("T")

KNOWN_KEYS = frozenset(
    {
        "name",
        "title",
        "description",
        "type",
        "tags",
        "aliases",
        "created",
        "updated",
        "date",
        "valid_from",
        "valid_until",
        "review_by",
        "supersedes",
        "superseded_by",
        "importance",
        "pinned",
        "source",
    }
)
_SINGULAR = {"tag": "tags", "alias": "aliases"}
# Words for what only ``pinned`` does, where they have a truth value: a number under ``pin`` may be anything.
_PINNED = frozenset({"pin", "evergreen"})
_TRUE = frozenset({"true", "yes", "on", "y"})


@dataclass(frozen=True, slots=True)
class Misnamed:
    """A key, as written, and the known key that it was probably meant to be."""

    key: str
    meant: str

    @property
    def message(self) -> str:
        """What is told of it."""
        return f"the key {self.key!r} is not read: write {self.meant}"


def misnamed(meta: Mapping[str, object]) -> tuple[Misnamed, ...]:
    """Those keys of a frontmatter, of its ``metadata`` too. Beside the known key itself, which counts, none is.

    >>> [one.message for one in misnamed({"Pinned": True, "tag": "ops", "team": "platform"})]
    ["the key 'Pinned' is not read: write pinned", "the key 'tag' is not read: write tags"]
    """
    known = with_nested(meta)
    found = (Misnamed(key, meant) for key, value in known.items() if (meant := _meant(key, value)) is not None)
    return tuple(one for one in found if known.get(one.meant) is None)


def with_nested(meta: Mapping[str, T]) -> Mapping[str, T]:
    """The keys of a frontmatter and those below its ``metadata:``, which count where they do not stand flat."""
    nested = meta.get("metadata")
    return {**nested, **meta} if isinstance(nested, dict) else meta


def _meant(key: str, value: object) -> str | None:
    if key in KNOWN_KEYS or value is None:
        return None
    letters = _letters(key)
    if letters in _PINNED and fold(str(value)) in _TRUE:
        return "pinned"
    return _BY_LETTERS.get(letters)


def _letters(key: str) -> str:
    """What is left without case, marks and characters that nobody sees."""
    return "".join(filter(str.isalnum, fold(key)))


_BY_LETTERS = {**{_letters(key): key for key in KNOWN_KEYS}, **_SINGULAR}
