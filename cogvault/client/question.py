"""What a search asks of a daemon: refused here as a vault of this process refuses it, or sent as that one reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from cogvault.types.arguments import check_arguments

__all__ = ["question"]

_FLAGS = ("explain", "sync")
_NAMES = ("type", "tags", "session_seen")
_DATES = ("after", "before", "as_of")
_NO_TEXT = frozenset({str, type(None)})
# Nobody asks for more; what is refused for its size is so in this process.
_MOST = {"k": 1000, "budget_tokens": 1_000_000}


def question(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``Vault.search`` as they are sent.

    Those of the usual types go as they are: a daemon refuses them as a vault does. JSON would change others, or the
    daemon take them, as it reads "5" as 5.

    Raises:
        QueryError: an argument is of the wrong type or out of range.
        PathError: ``path`` can name nothing in a vault.
    """
    check_arguments(**{name: arguments[name] for name in _FLAGS})
    asked = {name: list(value) if isinstance(value, Iterator) else value for name, value in arguments.items()}
    if not _is_plain(asked):
        asked = _checked(asked)
    return {**asked, "session_seen": _listed(asked["session_seen"]) or []}


def _is_plain(asked: Mapping[str, Any]) -> bool:
    numbers = ((asked[name], most) for name, most in _MOST.items())
    return (
        type(asked["query"]) is type(asked["layer"]) is str
        and {type(asked[name]) for name in ("path", *_DATES)} <= _NO_TEXT
        and all(number is None or (type(number) is int and 0 < number <= most) for number, most in numbers)
        and (asked["min_score"] is None or (type(asked["min_score"]) in (int, float) and 0 <= asked["min_score"] <= 1))
        and asked["where"] in (None, {})
        and all(_is_words(asked[name]) for name in _NAMES)
    )


def _is_words(value: Any) -> bool:
    is_series = type(value) in (list, tuple) and {type(one) for one in value} <= {str}
    return value is None or type(value) is str or is_series


def _checked(asked: dict[str, Any]) -> dict[str, Any]:
    """Refused as by ``Vault.search``, else as that reads it."""
    from cogvault.retrieval import request

    request.search_request(datetime.min, **{name: asked[name] for name in asked if name != "sync"})
    where: dict[str, list[Any]] = {}
    for key, value in request.conditions(asked["where"] or {}):
        where.setdefault(key, []).append(value)
    return {
        **asked,
        **{name: _listed(asked[name]) for name in ("type", "tags")},
        **{name: _instant(name, asked[name]) for name in _DATES},
        **{name: None if asked[name] is None else int(asked[name]) for name in _MOST},
        "min_score": None if asked["min_score"] is None else float(asked["min_score"]),
        "where": where or None,
    }


def _instant(name: str, value: object) -> object:
    from cogvault.retrieval.request import instant

    moment = instant(name, value) if isinstance(value, date) else None
    return value if moment is None else moment.isoformat()


def _listed(value: Iterable[str] | None) -> list[str] | None:
    if value is None:
        return None
    return [value] if isinstance(value, str) else list(value)
