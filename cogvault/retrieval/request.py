"""What a caller asks with, checked and folded into a ``Filter``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time

from cogvault.errors import QueryError
from cogvault.text.dates import parse_date
from cogvault.text.normalise import fold
from cogvault.types import Filter

Names = str | Iterable[str] | None
When = str | date | datetime | None


def build_filter(
    *,
    type: Names = None,
    tags: Names = None,
    path: str | None = None,
    after: When = None,
    before: When = None,
    as_of: When = None,
    where: Mapping[str, object] | None = None,
    without: Iterable[str] = (),
) -> Filter:
    """Turn search arguments into a filter.

    Args:
        type: one type or several, any of which will do.
        tags: one tag or several, all of which are needed.
        path: folder or card, vault-relative.
        after, before: dates; a day without a time starts at midnight UTC.
        as_of: the instant at which a card must be valid.
        where: frontmatter keys and the values they must have.
        without: ids to leave out.

    Raises:
        QueryError: a date cannot be read, or the range is empty.
    """
    start, end = instant("after", after), instant("before", before)
    if start is not None and end is not None and start >= end:
        raise QueryError("the range is empty: after is not before before", key="after", hint="swap the two dates")
    return Filter(
        types=frozenset(fold(name) for name in _names(type)),
        tags=frozenset(fold(name.removeprefix("#")) for name in _names(tags)),
        path=_folder(path),
        after=start,
        before=end,
        as_of=instant("as_of", as_of),
        where=tuple((key, _text(value)) for key, value in (where or {}).items()),
        without=frozenset(without),
    )


def instant(key: str, value: When) -> datetime | None:
    """A date argument as an aware datetime in UTC; naive values are taken as UTC.

    Raises:
        QueryError: the text is no date.
    """
    if value is None or isinstance(value, datetime):
        return value if value is None or value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    found = parse_date(value)
    if found is None:
        raise QueryError(f"not a date: {value!r}", key=key, hint="write 2026-05-31 or 2026-05-31T10:00:00Z")
    return found


def _names(value: Names) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _folder(path: str | None) -> str | None:
    """A path filter without leading ``./`` and trailing ``/``; the vault itself is no filter."""
    if path is None:
        return None
    cleaned = path.replace("\\", "/").removeprefix("./").rstrip("/")
    return cleaned if cleaned not in ("", ".") else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
