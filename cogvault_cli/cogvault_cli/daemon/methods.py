"""The calls of a vault that the daemon serves, and the JSON bodies they take: made from their signatures."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import UnionType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from cogvault import Vault
from cogvault.client.wire import from_json
from cogvault.errors import QueryError
from cogvault.types import CardLayers, Draft, LayerFilesReport, Turn, WriteResult, to_json

__all__ = ["METHODS", "Method"]

T = TypeVar("T")


class Arguments(BaseModel):
    """Strict in names, and in numbers that JSON cannot hold."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Body(Arguments):
    """What every call says: whose vault it means."""

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


def _record_many(vault: Vault, *, drafts: list[Draft]) -> tuple[WriteResult, ...]:
    """Write cards, each on its own: one result an item, also for those that were refused."""
    return vault.record_many(_value(Draft, draft, "drafts") for draft in drafts)


def _session(vault: Vault, *, name: str) -> dict[str, str]:
    """Name, folder and address of a session."""
    session = vault.session(name)
    return {"name": session.name, "folder": session.folder, "uri": session.uri}


def _session_append(
    vault: Vault, *, name: str, speaker: str, text: str, at: str | None = None, meta: Mapping[str, Any] | None = None
) -> Turn:
    """Add a turn to a session."""
    return vault.session(name).append(speaker, text, at, meta)


def _session_append_many(vault: Vault, *, name: str, turns: list[Turn]) -> tuple[Turn, ...]:
    """Add turns to a session."""
    return vault.session(name).append_many([_value(Turn, turn, "turns") for turn in turns])


def _session_turns(vault: Vault, *, name: str, last: int | None = None) -> list[Turn]:
    """Turns of a session."""
    return vault.session(name).turns(last)


def _session_close(vault: Vault, *, name: str) -> CardLayers:
    """Finish a session."""
    return vault.session(name).close()


def _layers(vault: Vault, *, id: str = "") -> CardLayers:
    """Abstract and overview of a card or folder."""
    return vault.layers(id)


def _layers_export(vault: Vault) -> LayerFilesReport:
    """Write the layers of folders into files beside the cards."""
    return vault.layers.export()


def _layers_import(vault: Vault) -> LayerFilesReport:
    """Take in what people wrote into those files."""
    return vault.layers.import_edits()


def _search(vault: Vault, **arguments: Any) -> Any:
    return vault.search(**arguments).to_dict()


def _value(kind: type[T], fields: Any, key: str) -> T:
    """A dataclass of the fields that were sent; the others take their defaults."""
    try:
        return from_json(kind, fields.model_dump(exclude_unset=True))
    except ValueError as error:
        raise QueryError(f"no {kind.__name__}: {error}", key=key, hint="see /openapi.json") from error


def _body(name: str, function: Callable[..., Any]) -> type[Body]:
    hints = typing.get_type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name == "progress":  # it is told while a call runs, which no answer can
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (_jsonable(hints[parameter.name]), default)
    made: type[Body] = create_model(f"{name.title().replace('_', '')}Body", __base__=Body, **fields)
    return made


def _model(kind: type[Any]) -> type[Arguments]:
    """A dataclass as an object of JSON."""
    hints = typing.get_type_hints(kind)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        is_needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        default = None if field.default is dataclasses.MISSING else field.default
        hint = _jsonable(hints[field.name])
        fields[field.name] = (hint, ... if is_needed else default)
    made: type[Arguments] = create_model(kind.__name__, __base__=Arguments, **fields)
    return made


def _jsonable(hint: Any) -> Any:
    """The type as JSON can hold it: a series of values is a list, and dates are text, which the vault itself reads."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (date, datetime):
        return str
    if dataclasses.is_dataclass(hint):
        return _model(typing.cast("type[Any]", hint))
    if origin in (Iterable, list):
        return list[_jsonable(arguments[0])]  # type: ignore[misc]  # made at run time
    if origin is Mapping:
        return dict[str, JsonValue]
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
    "sessions", "status", "strength", "strengths", "supersede", "sweep", "sync", "tree", "update",
)  # fmt: skip
METHODS: tuple[Method, ...] = (
    _method("search", Vault.search, _search),
    *(_method(name, getattr(Vault, name)) for name in _OF_VAULT),
    _method("layers", _layers),
    _method("layers_export", _layers_export),
    _method("layers_import", _layers_import),
    _method("record_many", _record_many),
    _method("session", _session),
    _method("session_append", _session_append),
    _method("session_append_many", _session_append_many),
    _method("session_turns", _session_turns),
    _method("session_close", _session_close),
)
