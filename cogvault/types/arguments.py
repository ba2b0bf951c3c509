"""Arguments of the wrong type are refused by name, alike in this process and before they are sent to a daemon. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from numbers import Integral
from typing import TypeVar

from cogvault.errors import CogvaultError, QueryError
from cogvault.types.sessions import Turn
from cogvault.types.writes import Draft, WriteResult, refused

__all__ = ["check_arguments", "checked_draft", "checked_tags", "checked_texts", "checked_turns", "each_draft"]

T = TypeVar("T")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_range(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_count, value))


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value))


def _is_moment(value: object) -> bool:
    return isinstance(value, str | date)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_TEXTS = ("content", "id", "old", "new", "prefix", "after", "name", "speaker", "text")
# A word would count as yes, "no" too: some of them delete.
_FLAGS = ("apply", "explain", "purge", "redact", "sync", "verify")
_NEEDED = frozenset((*_TEXTS, *_FLAGS))
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(_TEXTS, (_is_text, "text")),
    **dict.fromkeys(
        ("title", "type", "description", "to", "source", "body", "section", "append", "base_hash"), (_is_text, "text")
    ),
    **dict.fromkeys(("limit", "last", "version"), (_is_count, "a whole number")),
    **dict.fromkeys(("meta", "set"), (_is_mapping, "a mapping of names to values")),
    **dict.fromkeys(("valid_from", "valid_until", "at"), (_is_moment, "a date or text")),
    "lines": (_is_range, "a first and a last line"),
    **dict.fromkeys(("pinned", *_FLAGS), (_is_flag, "True or False")),
}


def check_arguments(**arguments: object) -> None:
    """Refuse what is of another type than all methods of a vault take by this name; other names pass.

    Raises:
        QueryError: a value is of the wrong type.
    """
    for key, value in arguments.items():
        fits, kind = _KINDS.get(key, (None, ""))
        if fits is not None and not (value is None and key not in _NEEDED) and not fits(value):
            raise _wrong(key, kind, value)


def checked_texts(key: str, values: Iterable[str]) -> tuple[str, ...]:
    """A series of texts, each taken once.

    Raises:
        QueryError: it is none.
    """
    return _items(key, values, str, "texts")


def checked_tags(tags: Iterable[str] | str) -> tuple[str, ...] | str:
    """The same; text is comma text.

    Raises:
        QueryError: they are neither text nor a series of texts.
    """
    return tags if isinstance(tags, str) else checked_texts("tags", tags)


def checked_draft(draft: Draft) -> Draft:
    """A draft whose fields are of the right types.

    Raises:
        QueryError: one is not.
    """
    if not isinstance(draft, Draft):
        raise _wrong("drafts", "a list of drafts", draft)
    check_arguments(**{field.name: getattr(draft, field.name) for field in fields(draft)})
    return replace(draft, tags=checked_tags(draft.tags))


def each_draft(
    drafts: Iterable[Draft],
    check: Callable[[Draft], Draft],
    write: Callable[[tuple[Draft, ...]], Iterable[WriteResult]],
) -> tuple[WriteResult, ...]:
    """One result a draft, in order.

    Args:
        drafts: to write.
        check: called with each; its error is the reason why that one is refused.
        write: called once with all the others, when there are any; gives one result for each.

    Raises:
        QueryError: they are no series of drafts.
    """
    if not isinstance(drafts, Iterable) or isinstance(drafts, str):
        raise _wrong("drafts", "a list of drafts", drafts)
    checked = [_checked_or_refused(draft, check) for draft in drafts]
    accepted = tuple(draft for draft in checked if isinstance(draft, Draft))
    written = iter(write(accepted) if accepted else ())
    return tuple(next(written) if isinstance(draft, Draft) else draft for draft in checked)


def _checked_or_refused(draft: Draft, check: Callable[[Draft], Draft]) -> Draft | WriteResult:
    try:
        return check(draft)
    except CogvaultError as error:
        return refused(error)


def checked_turns(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Turns whose fields are of the right types.

    Raises:
        QueryError: one is not.
    """
    found = _items("turns", turns, Turn, "turns")
    for turn in found:
        check_arguments(speaker=turn.speaker, text=turn.text, meta=turn.meta)
        if turn.meta is None:
            raise _wrong("meta", "a mapping of names to values", None)
        if not isinstance(turn.at, datetime | None):
            raise _wrong("at", "a datetime", turn.at)
    return found


def _items(key: str, values: Iterable[T], kind: type[T], named: str) -> tuple[T, ...]:
    found = tuple(values) if isinstance(values, Iterable) else None
    if found is None or not all(isinstance(value, kind) for value in found):
        raise _wrong(key, f"a list of {named}", values if found is None else found)
    return found


def _wrong(key: str, kind: str, value: object) -> QueryError:
    return QueryError(f"{key} should be {kind}, not {repr(value)[:60]}", key=key, hint=f"pass {kind}")
