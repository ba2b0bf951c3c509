"""JSON to the values that it was made of, and arguments and errors to JSON."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any, TypeVar, cast, overload

from cogvault import errors
from cogvault.errors import CogvaultError
from cogvault.types import Draft, to_json
from cogvault.types.arguments import checked_draft

__all__ = ["error_to_json", "from_json", "frontmatter", "sendable", "to_error", "to_wire"]

T = TypeVar("T")
_ERRORS = {name: getattr(errors, name) for name in errors.__all__}


def from_json(kind: type[T], value: Any) -> T:
    """A value of this type. Keys that the type does not have are left out; missing ones take its defaults.

    Args:
        kind: a dataclass, enum, ``datetime``, or a collection or union of such.
        value: decoded JSON.
    """
    return cast(T, _value(kind, value))


def _value(kind: Any, value: Any) -> Any:
    origin = typing.get_origin(kind)
    if kind is Any or value is None or isinstance(kind, str):
        return value
    if origin is typing.Union or origin is types.UnionType:
        choices = [choice for choice in typing.get_args(kind) if choice is not type(None)]
        return _value(choices[0], value) if len(choices) == 1 else value
    if origin is not None:
        return _collection(origin, typing.get_args(kind), value)
    if not isinstance(kind, type):
        return value
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _value(hints[name], item) for name, item in value.items() if name in hints})
    if issubclass(kind, Enum):
        return kind(value)
    return datetime.fromisoformat(value) if kind is datetime else value


def _collection(origin: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is ...:
            return tuple(_value(arguments[0], item) for item in value)
        return tuple(_value(kind, item) for kind, item in zip(arguments, value, strict=True))
    if issubclass(origin, Mapping):
        return {name: _value(arguments[1], item) for name, item in value.items()}
    if issubclass(origin, Sequence):
        return [_value(arguments[0], item) for item in value]
    return value


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """Types of the fields of a dataclass."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@overload
def frontmatter(values: Mapping[str, object]) -> Mapping[str, object]: ...
@overload
def frontmatter(values: Mapping[str, object] | None) -> Mapping[str, object] | None: ...
def frontmatter(values: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """``meta`` or ``set`` as a vault of this process would write it: what JSON has no form for is told apart here.

    Raises:
        CardError: a key cannot have its value.
    """
    if not isinstance(values, Mapping) or all(map(_is_plain, values, values.values())):
        return values
    from cogvault.lifecycle.values import checked_value  # the parser of dates comes with it, and is seldom needed

    return {name: checked_value(value, name) for name, value in values.items()}


def sendable(draft: Draft) -> Draft:
    """A draft that is refused here as a vault of this process would refuse it, or else can be sent.

    Raises:
        QueryError: a field is of the wrong type.
        CardError: no card can hold it.
    """
    draft = checked_draft(draft)
    given = {name: getattr(draft, name) for name in ("importance", "valid_from", "valid_until")}
    tags = draft.tags.split(",") if isinstance(draft.tags, str) else draft.tags
    return dataclasses.replace(draft, tags=tuple(tags), meta=frontmatter(draft.meta), **frontmatter(given))


def _is_plain(name: str, value: object) -> bool:
    if name == "importance":  # text that is a number counts as one
        return value is None or (type(value) in (int, float) and 0 <= value <= 1)  # type: ignore[operator]
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or value is None or isinstance(value, bool | int)


def to_wire(value: Any) -> Any:
    """An argument as JSON. Text stays text; any other series of values is a list."""
    if isinstance(value, Mapping):
        return {str(name): to_wire(item) for name, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Iterable) and not isinstance(value, str | PurePath):
        return [to_wire(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_wire(_field(field.name, getattr(value, field.name))) for field in dataclasses.fields(value)
        }
    return to_json(value)


def _field(name: str, value: Any) -> Any:
    return frontmatter(value) if name == "meta" else value


def error_to_json(error: CogvaultError) -> dict[str, Any]:
    """An error as JSON."""
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "path": error.path,
        "line": error.line,
        "key": error.key,
        "hint": error.hint,
    }


def to_error(document: Mapping[str, Any]) -> CogvaultError:
    """The error that a daemon told of; one that is not known here is a plain ``CogvaultError``."""
    kind = _ERRORS.get(str(document.get("kind")), CogvaultError)
    error: CogvaultError = kind(
        str(document.get("message", "the daemon failed")),
        path=document.get("path"),
        line=document.get("line"),
        key=document.get("key"),
        hint=document.get("hint"),
    )
    return error
