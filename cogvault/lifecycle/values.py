"""What callers say of a card, as frontmatter values: the same whether by an argument, ``meta`` or ``set``. Pure."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from cogvault.cards.edit import WORD_LISTS
from cogvault.cards.key_names import misnamed
from cogvault.cards.yaml_values import DATE_KEYS
from cogvault.errors import CardError
from cogvault.text.dates import parse_date
from cogvault.text.secret_names import shortest_under
from cogvault.text.secrets import redact
from cogvault.types import JsonValue, Moment, Problem

__all__ = [
    "SPAN_KEYS",
    "check_span",
    "checked_importance",
    "checked_value",
    "checked_words",
    "masked",
    "moment_text",
    "unread_keys",
]

SPAN_KEYS = ("valid_from", "valid_until")
_TEXT_KEYS = frozenset({"name", "title", "description", "type"})


def moment_text(value: Moment, key: str) -> str | None:
    """An instant as it is written into a card: a date stays a date, a time is UTC to the second.

    Raises:
        CardError: the text is no date, or the instant is none in UTC.
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        try:
            return f"{aware.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"
        except OverflowError as error:
            raise CardError(f"{key} is outside of the years 1 to 9999 in UTC", key=key, hint="leave it out") from error
    if isinstance(value, date):
        return value.isoformat()
    if value is not None and parse_date(value) is None:
        raise CardError(f"{key} is no date: {value[:40]!r}", key=key, hint="write 2026-05-26 or 2026-05-26T10:00:00Z")
    return value


def checked_importance(value: object) -> float | None:
    """A number from 0 to 1; text that is one counts.

    Raises:
        CardError: it is none.
    """
    number = value
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            number = float(value)
    if number is None:
        return None
    if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number) and 0 <= number <= 1:
        return number
    raise CardError(f"importance should be from 0 to 1, not {str(value)[:40]}", key="importance", hint="write 0.8, say")


def check_span(values: Mapping[str, JsonValue]) -> None:
    """Refuse a card that ceases to hold before it begins to.

    Raises:
        CardError: it does.
    """
    start, end = (None if (value := values.get(key)) is None else parse_date(str(value)) for key in SPAN_KEYS)
    if start is not None and end is not None and end < start:
        raise CardError("valid_until is before valid_from", key="valid_until", hint="the card would never be valid")


def checked_value(value: object, key: str) -> JsonValue:
    """The value of a frontmatter key as it is written.

    Raises:
        CardError: the key cannot have it.
    """
    if key == "importance":
        return checked_importance(value)
    if key in DATE_KEYS:
        is_moment = value is None or isinstance(value, str | date)
        return moment_text(value if is_moment else str(value), key)  # type: ignore[arg-type]
    if key in WORD_LISTS and isinstance(value, str):
        return checked_words(value)
    if key in _TEXT_KEYS and isinstance(value, Mapping | list | tuple | set | frozenset):
        raise CardError(f"{key} should be text", key=key, hint="write one line")
    return _to_value(value, key)


def checked_words(words: Iterable[str] | str) -> list[JsonValue]:
    """Tags: a list, or comma text; each once, without blanks and ``#`` around it."""
    items = words.split(",") if isinstance(words, str) else words
    return list(dict.fromkeys(clean for word in items if (clean := " ".join(word.split()).lstrip("#"))))


def unread_keys(path: str, values: Mapping[str, object]) -> tuple[Problem, ...]:
    """Keys that were written into the card at this path and that no card's reader takes for what they were meant."""
    return tuple(Problem(path, "frontmatter-key", one.message, key=one.meant) for one in misnamed(values))


def masked(value: JsonValue, key: str) -> JsonValue:
    """The value with what looks like a secret in it masked; the key, such as ``password``, counts for all below it."""
    if isinstance(value, dict):
        is_telling = shortest_under(key) is not None
        return {redact(name): masked(item, key if is_telling else name) for name, item in value.items()}
    if isinstance(value, list):
        return [masked(item, key) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = str(value)
    found = redact("\n".join(_redacted(line, f"{key}: ") for line in text.split("\n")))
    return value if found == text else found


def _redacted(line: str, lead: str) -> str:
    found = redact(lead + line)
    return found.removeprefix(lead) if found.startswith(lead) else redact(line)


def _to_value(value: object, key: str) -> JsonValue:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime | date):
        return moment_text(value, key)
    if isinstance(value, Mapping):
        return {str(name): _to_value(item, key) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_value(item, key) for item in value]
    raise CardError(f"{value!r} cannot be the value of a key", key=key, hint="write text, a number or a list")
