"""What callers say of a card, as frontmatter values. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from cogvault.errors import CardError
from cogvault.text.dates import parse_date
from cogvault.types import JsonValue, Moment

__all__ = ["checked_importance", "checked_words", "moment_text", "to_value"]


def moment_text(value: Moment, key: str) -> str | None:
    """An instant as it is written into a card: a date stays a date, a time is UTC to the second.

    Raises:
        CardError: the text is no date.
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).replace(microsecond=0).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, date):
        return value.isoformat()
    if value is not None and parse_date(value) is None:
        raise CardError(f"{key} is no date: {value[:40]!r}", key=key, hint="write 2026-05-26 or 2026-05-26T10:00:00Z")
    return value


def checked_importance(value: float | None) -> float | None:
    """A number from 0 to 1.

    Raises:
        CardError: it is none.
    """
    if value is None or (math.isfinite(value) and 0 <= value <= 1):
        return value
    raise CardError(f"importance should be from 0 to 1, not {value}", key="importance", hint="write 0.8, say")


def checked_words(words: Iterable[str] | str) -> list[JsonValue]:
    """Tags: a list, or comma text; each once, without blanks and ``#`` around it."""
    items = words.split(",") if isinstance(words, str) else words
    return list(dict.fromkeys(clean for word in items if (clean := " ".join(word.split()).lstrip("#"))))


def to_value(value: object, key: str) -> JsonValue:
    """Any value that a frontmatter key may have.

    Raises:
        CardError: it may not.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime | date):
        return moment_text(value, key)
    if isinstance(value, Mapping):
        return {str(name): to_value(item, key) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_value(item, key) for item in value]
    raise CardError(f"{value!r} cannot be the value of a key", key=key, hint="write text, a number or a list")
