"""What a caller asks with, checked and folded into a ``Filter``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from math import isfinite
from numbers import Integral, Real
from typing import Any

from cogvault.cards.addresses import EVERYTHING, Prefix, prefix_of
from cogvault.errors import PathError, QueryError
from cogvault.text.dates import parse_date
from cogvault.text.normalise import fold
from cogvault.types import CardInfo, Filter

DEFAULT_K = 5
MAX_K = 1000

Names = str | Iterable[str] | None
Scalar = str | int | float
When = str | date | datetime | None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question.

    Attributes:
        text: the query.
        k: how many hits at most.
        now: the instant that ages and validity are counted from.
        filter: which cards may answer.
        min_score: lowest score, None = the threshold ladder.
        budget_tokens: pack an answer of at most so many tokens.
        layer: in which layer the packed answer tells: ``auto``, ``L2``, ``L1`` or ``L0``.
        explain: fill ``Hit.parts``.
    """

    text: str
    k: int
    now: datetime
    filter: Filter = field(default_factory=Filter)
    min_score: float | None = None
    budget_tokens: int | None = None
    layer: str = "auto"
    explain: bool = False


def search_request(
    now: datetime,
    *,
    query: str,
    k: int | None,
    min_score: float | None,
    budget_tokens: int | None,
    layer: str,
    session_seen: Iterable[str],
    explain: bool,
    **filter: Any,
) -> SearchRequest:
    """What ``Vault.search`` is asked, which says what each argument is; ``filter`` are those of ``build_filter``.

    Raises:
        QueryError: an argument is of the wrong type or out of range; of several the first of query, k, those of the
            filter, min_score, budget_tokens, layer.
        PathError: ``path`` can name nothing in a vault.
    """
    return SearchRequest(
        text=_checked_query(query),
        k=checked_count(k, budget_tokens),
        now=now,
        filter=build_filter(**filter, without=session_seen),
        min_score=checked_share("min_score", min_score),
        budget_tokens=checked_budget(budget_tokens),
        layer=_checked_layer(layer),
        explain=explain,
    )


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
        tags: one tag or several, all of which are needed; text with commas is several, as in a card.
        path: folder or card, vault-relative, or the beginning of an address.
        after, before: dates; a day without a time starts at midnight UTC.
        as_of: the instant at which a card must be valid.
        where: frontmatter keys and the values they must have; ``a.b`` is the key ``b`` below ``a``; of a list, every
            item is needed, in any order. Numbers are compared by value, all else as text.
        without: ids to leave out; text is one id.

    Raises:
        QueryError: an argument is of the wrong type or an empty name, a date cannot be read, or the range is empty.
        PathError: ``path`` can name nothing in a vault.
    """
    start, end = instant("after", after), instant("before", before)
    if start is not None and end is not None and start >= end:
        raise QueryError("the range is empty: after is not before before", key="after", hint="swap the two dates")
    part = _part(path)
    return Filter(
        types=frozenset(_word("type", name) for name in _names("type", type)),
        tags=frozenset(_word("tags", tag) for text in _names("tags", tags) for tag in _tags(text)),
        paths=part.inside if part.inside != EVERYTHING.inside else (),
        outside=part.outside,
        after=start,
        before=end,
        as_of=instant("as_of", as_of),
        where=conditions({} if where is None else where),
        without=frozenset(_names("session_seen", without)),
    )


def placed(filter: Filter, cards: Sequence[CardInfo]) -> Filter:
    """The filter for these cards, all of a vault: its paths as written where cards lie in them as they are written."""
    if not filter.paths:
        return filter
    part = Prefix(filter.paths).among(cards)
    return replace(filter, paths=part.inside, as_written=part.as_written)


def instant(key: str, value: When) -> datetime | None:
    """A date argument as an aware datetime in UTC; naive values are taken as UTC.

    Raises:
        QueryError: the value is no date.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        except OverflowError as error:
            hint = "use one of the years 1 to 9999, in UTC"
            raise QueryError(f"not a date in UTC: {value.isoformat()}", key=key, hint=hint) from error
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    found = parse_date(value) if isinstance(value, str) else None
    if found is None:
        raise QueryError(f"not a date: {value!r}", key=key, hint="write 2026-05-31 or 2026-05-31T10:00:00Z")
    return found


def _names(key: str, value: Names) -> list[str]:
    if value is None:
        return []
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise QueryError(f"{key} is neither text nor a list of texts: {value!r}", key=key, hint="write text, or a list")
    return names


def _part(path: str | None) -> Prefix:
    hint = "name a folder or a card below the vault's folder, or an address"
    if path is not None and not isinstance(path, str):
        raise QueryError(f"path is not text: {path!r}", key="path", hint=hint)
    try:
        return prefix_of(path or "")
    except PathError as error:
        raise PathError(error.message, path=error.path, key="path", hint=hint) from error


def _tags(text: str) -> list[str]:
    """The tags in a text, read as a card's ``tags:`` are; an empty text stays, to be refused."""
    marked = text.split()
    parts = marked if marked and all(word.startswith("#") for word in marked) else text.split(",")
    return [tag for part in parts if (tag := part.strip().lstrip("#"))] or [""]


def _word(key: str, text: str) -> str:
    word = fold(" ".join(text.split()))
    if not word:
        raise QueryError(f"{key} is empty", key=key, hint="leave it out to search all cards")
    return word


def conditions(where: Mapping[str, object]) -> tuple[tuple[str, Scalar], ...]:
    """Frontmatter keys and the values they must have, as a ``Filter`` holds them.

    Raises:
        QueryError: it is no mapping, or holds what no frontmatter does.
    """
    if not isinstance(where, Mapping):
        message = f"where is no mapping of keys to values: {where!r}"
        raise QueryError(message, key="where", hint='write where={"team": "platform"}')
    found: list[tuple[str, Scalar]] = []
    for key, value in where.items():
        if not isinstance(key, str) or not key.strip():
            raise QueryError(f"where has a key that is no text: {key!r}", key="where", hint="name a frontmatter key")
        items = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        if not items:
            raise QueryError(f"where has an empty list for {key}", key="where", hint="name at least one value")
        found.extend((key.strip(), _scalar(key, item)) for item in items)
    return tuple(found)


def _scalar(key: str, value: object) -> Scalar:
    """A value that a frontmatter can hold: a number stays one, everything else is compared as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    message = f"where has a value for {key} that no frontmatter holds: {value!r}"
    raise QueryError(message, key="where", hint="text, a number, true or false, a date, None, or a list of these")


def _checked_query(query: str) -> str:
    if not isinstance(query, str):
        raise QueryError("the query is not text", key="query", hint="pass a string")
    return query


def checked_count(k: int | None, budget: int | None) -> int:
    if k is None:
        return DEFAULT_K if budget is None else MAX_K
    if not _is_count(k) or not 1 <= k <= MAX_K:
        raise QueryError(f"k must be a whole number from 1 to {MAX_K}, not {k!r}", key="k", hint=f"try {DEFAULT_K}")
    return k


def checked_share(key: str, value: float | None) -> float | None:
    if value is not None and not (isinstance(value, Real) and 0 <= value <= 1):
        message = f"{key} must be a number from 0 to 1, not {value!r}"
        raise QueryError(message, key=key, hint="scores are absolute, 0 to 1")
    return value


def checked_budget(value: int | None) -> int | None:
    if value is not None and not (_is_count(value) and value >= 1):
        message = f"budget_tokens must be a whole number of at least 1, not {value!r}"
        raise QueryError(message, key="budget_tokens", hint="try 1000")
    return value


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _checked_layer(value: str) -> str:
    if value not in ("auto", "L0", "L1", "L2"):
        raise QueryError(f"no such layer: {value!r}", key="layer", hint="auto, L2, L1 or L0")
    return value


def describe(filter: Filter) -> str:
    """A filter in words, "" when every card passes."""
    if filter.is_empty:
        return ""
    parts = [
        ("type", " or ".join(sorted(filter.types))),
        ("tags", " and ".join(sorted(filter.tags))),
        ("path", " or ".join(filter.paths)),
        ("outside", " and ".join(filter.outside)),
        ("after", filter.after.isoformat() if filter.after else ""),
        ("before", filter.before.isoformat() if filter.before else ""),
        ("as of", filter.as_of.isoformat() if filter.as_of else ""),
        *((key, str(value)) for key, value in filter.where),
        ("without", f"{len(filter.without)} cards" if filter.without else ""),
    ]
    return ", ".join(f"{name}: {value}" for name, value in parts if value)
