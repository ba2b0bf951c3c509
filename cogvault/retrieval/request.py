"""What a caller asks with, checked and folded into a ``Filter``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time

from cogvault.cards.addresses import EVERYTHING, prefix_of
from cogvault.errors import QueryError
from cogvault.text.dates import parse_date
from cogvault.text.normalise import fold
from cogvault.types import Filter

DEFAULT_K = 5
MAX_K = 1000

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
        path: folder or card, vault-relative, or the beginning of an address.
        after, before: dates; a day without a time starts at midnight UTC.
        as_of: the instant at which a card must be valid.
        where: frontmatter keys and the values they must have.
        without: ids to leave out.

    Raises:
        QueryError: a date cannot be read, or the range is empty.
        PathError: ``path`` can name nothing in a vault.
    """
    start, end = instant("after", after), instant("before", before)
    if start is not None and end is not None and start >= end:
        raise QueryError("the range is empty: after is not before before", key="after", hint="swap the two dates")
    part = prefix_of(path or "")
    return Filter(
        types=frozenset(fold(name) for name in _names(type)),
        tags=frozenset(fold(name.removeprefix("#")) for name in _names(tags)),
        paths=part.inside if part.inside != EVERYTHING.inside else (),
        outside=part.outside,
        after=start,
        before=end,
        as_of=instant("as_of", as_of),
        where=tuple((key, _text(value)) for key, value in (where or {}).items()),
        without=frozenset(without),
    )


def instant(key: str, value: When) -> datetime | None:
    """A date argument as an aware datetime in UTC; naive values are taken as UTC.

    Raises:
        QueryError: the value is no date.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    found = parse_date(value) if isinstance(value, str) else None
    if found is None:
        raise QueryError(f"not a date: {value!r}", key=key, hint="write 2026-05-31 or 2026-05-31T10:00:00Z")
    return found


def _names(value: Names) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def checked_query(query: str) -> str:
    if not isinstance(query, str):
        raise QueryError("the query is not text", key="query", hint="pass a string")
    return query


def checked_count(k: int | None, budget: int | None) -> int:
    if k is None:
        return DEFAULT_K if budget is None else MAX_K
    if not 1 <= k <= MAX_K:
        raise QueryError(f"k must be 1 to {MAX_K}, not {k}", key="k", hint="ask for fewer hits")
    return k


def checked_share(key: str, value: float | None) -> float | None:
    if value is not None and not 0 <= value <= 1:
        raise QueryError(f"{key} must be 0 to 1, not {value}", key=key, hint="scores are absolute, 0 to 1")
    return value


def checked_budget(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise QueryError(f"budget_tokens must be at least 1, not {value}", key="budget_tokens", hint="try 1000")
    return value


def checked_layer(value: str) -> str:
    if value not in ("auto", "L0", "L1", "L2"):
        raise QueryError(f"no such layer: {value!r}", key="layer", hint="auto, L2, L1 or L0")
    return value
