"""Values that everything uses; any value as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

EMPTY_META: Mapping[str, JsonValue] = MappingProxyType({})


class Status(StrEnum):
    """What an answer is worth. ``empty`` is an honest "nothing found"; a fault is never ``empty``."""

    OK = "ok"
    EMPTY = "empty"
    STALE = "stale"
    DEGRADED = "degraded"
    FAILED = "failed"


_BEST_FIRST = (Status.OK, Status.EMPTY, Status.DEGRADED, Status.STALE, Status.FAILED)


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of some statuses, ``ok`` of none: what is stale may be wrong, what is degraded only lacks a part."""
    return max(statuses, key=_BEST_FIRST.index, default=Status.OK)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one file, found without stopping.

    Attributes:
        path: vault-relative path.
        code: stable kebab-case name of the kind, for example ``frontmatter-invalid``.
        message: what is wrong, in one sentence.
        line: 1-based line, when known.
        key: frontmatter key, when one is concerned.
    """

    path: str
    code: str
    message: str
    line: int | None = None
    key: str | None = None


def to_json(value: Any) -> JsonValue:
    """Any value of this package as JSON: dataclasses as objects, dates as ISO 8601, paths and enums as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return to_json(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_document(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value]


def to_document(value: Any) -> dict[str, JsonValue]:
    """A dataclass as a JSON object, keys as its fields."""
    return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
