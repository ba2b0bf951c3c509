"""The calls of a vault that the daemon serves, and the JSON bodies they take: made from their signatures."""

from __future__ import annotations

import functools
import inspect
import operator
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import UnionType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from cogvault import Vault
from cogvault.client.wire import from_json
from cogvault.errors import QueryError
from cogvault.types import CardLayers, Draft, Turn, WriteResult, to_json

__all__ = ["METHODS", "Method"]

T = TypeVar("T")


class Body(BaseModel):
    """What every call says: whose vault it means."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    tenant: str = Field(description="Folder of the vault, absolute.", min_length=1)


@dataclass(frozen=True, slots=True)
class Method:
    """One call.

    Attributes:
        name: as in its path.
        body: its arguments.
        run: does it; the result is JSON.
        summary: first line of its documentation.
    """

    name: str
    body: type[Body]
    run: Callable[[Vault, dict[str, Any]], Any]
    summary: str


def _record_many(vault: Vault, *, drafts: list[dict[str, Any]]) -> tuple[WriteResult, ...]:
    """Write cards, each on its own: one result an item, also for those that were refused."""
    return vault.record_many(_values(Draft, drafts, "drafts"))


def _session_append(vault: Vault, *, name: str, turns: list[dict[str, Any]]) -> tuple[Turn, ...]:
    """Add turns to a session."""
    return vault.session(name).append_many(_values(Turn, turns, "turns"))


def _values(kind: type[T], documents: list[dict[str, Any]], key: str) -> list[T]:
    try:
        return [from_json(kind, document) for document in documents]
    except (TypeError, ValueError, AttributeError) as error:
        raise QueryError(f"not a list of {kind.__name__}: {error}", key=key, hint="see /openapi.json") from error


def _session_turns(vault: Vault, *, name: str, last: int | None = None) -> list[Turn]:
    """Turns of a session."""
    return vault.session(name).turns(last)


def _session_close(vault: Vault, *, name: str) -> CardLayers:
    """Finish a session."""
    return vault.session(name).close()


def _layers(vault: Vault, *, id: str = "") -> CardLayers:
    """Abstract and overview of a card or folder."""
    return vault.layers(id)


def _search(vault: Vault, **arguments: Any) -> Any:
    return vault.search(**arguments).to_dict()


def _body(name: str, function: Callable[..., Any]) -> type[Body]:
    hints = typing.get_type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name in ("progress", "arguments"):  # progress is told while a call runs, which no answer can
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (_jsonable(hints[parameter.name]), default)
    made: type[Body] = create_model(f"{name.title().replace('_', '')}Body", __base__=Body, **fields)
    return made


def _jsonable(hint: Any) -> Any:
    """The type as JSON can hold it: a series of values is a list, and dates are text, which the vault itself reads."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (date, datetime):
        return str
    if origin is Iterable:
        return list[_jsonable(arguments[0])]  # type: ignore[misc]  # made at run time
    if origin is Mapping:
        return dict[str, Any]
    if origin in (typing.Union, UnionType):
        return functools.reduce(operator.or_, dict.fromkeys(map(_jsonable, arguments)))
    return hint


def _method(name: str, function: Callable[..., Any], run: Callable[..., Any] | None = None) -> Method:
    call = run or function

    def answer(vault: Vault, arguments: dict[str, Any]) -> Any:
        result = call(vault, **arguments)
        return result if run is not None else {"result": to_json(result)}

    return Method(name, _body(name, function), answer, (function.__doc__ or name).strip().splitlines()[0])


_OF_VAULT = (
    "archived", "cards", "forget", "history", "list", "move", "purge", "read", "record", "restore",
    "sessions", "status", "supersede", "sync", "tree", "update",
)  # fmt: skip
METHODS: tuple[Method, ...] = (
    _method("search", Vault.search, _search),
    *(_method(name, getattr(Vault, name)) for name in _OF_VAULT),
    _method("layers", _layers),
    _method("record_many", _record_many),
    _method("session_append", _session_append),
    _method("session_turns", _session_turns),
    _method("session_close", _session_close),
)
