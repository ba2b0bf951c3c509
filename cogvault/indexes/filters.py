"""Filters: which cards a search may return. Pure.

A filter is compiled into one check for each of its conditions, so that its own text is folded once, not once a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from cogvault.text.normalise import fold
from cogvault.types import BoolArray, CardInfo, Filter, JsonValue

_Check: TypeAlias = Callable[[CardInfo], bool]


def matches(card: CardInfo, filter: Filter) -> bool:
    """True when the card passes."""
    return all(check(card) for check in _checks(filter))


def mask(cards: Sequence[CardInfo], filter: Filter) -> BoolArray:
    """(cards,) True for each card that passes."""
    passed = np.ones(len(cards), dtype=np.bool_)
    for check in _checks(filter):
        passed &= np.fromiter(map(check, cards), dtype=np.bool_, count=len(cards))
    return passed


def _checks(filter: Filter) -> Iterator[_Check]:
    if filter.ids is not None:
        yield _has_id(filter.ids)
    if filter.without:
        yield _lacks_id(filter.without)
    if filter.types:
        yield _has_type(frozenset(map(fold, filter.types)))
    if filter.tags:
        yield _has_tags(frozenset(map(fold, filter.tags)))
    yield from _places(filter)
    if (after := filter.after) is not None:
        yield lambda card: card.dated >= after
    if (before := filter.before) is not None:
        yield lambda card: card.dated < before
    if (as_of := filter.as_of) is not None:
        yield (
            lambda card: (
                ((start := card.valid_from or card.created) is None or start <= as_of)
                and (card.valid_until is None or card.valid_until > as_of)
            )
        )
    for key, value in filter.where:
        yield _has_value(fold(key), fold(value))


def _has_id(ids: frozenset[str]) -> _Check:
    return lambda card: card.id in ids


def _lacks_id(ids: frozenset[str]) -> _Check:
    return lambda card: card.id not in ids


def _has_type(types: frozenset[str]) -> _Check:
    return lambda card: card.type is not None and fold(card.type) in types


def _has_tags(tags: frozenset[str]) -> _Check:
    return lambda card: tags <= frozenset(map(fold, card.tags))


def _places(filter: Filter) -> Iterator[_Check]:
    if filter.paths:
        yield _is_inside(filter.paths)
    if filter.outside:
        yield _is_outside(filter.outside)


def _is_inside(paths: tuple[str, ...]) -> _Check:
    bases = frozenset(fold(path).removeprefix("./").strip("/") for path in paths)
    if bases & {"", "."}:
        return lambda card: True
    folders = tuple(f"{base}/" for base in bases)
    return lambda card: (id := fold(card.id)) in bases or id.startswith(folders)


def _is_outside(folders: tuple[str, ...]) -> _Check:
    inside = tuple(f"{folder}/" for folder in folders)
    return lambda card: not card.id.startswith(inside)


def _has_value(key: str, value: str) -> _Check:
    def check(card: CardInfo) -> bool:
        nested = card.meta.get("metadata")
        entries = chain(card.meta.items(), nested.items() if isinstance(nested, dict) else ())
        return any(value in _texts(held) for name, held in entries if fold(name) == key)

    return check


def _texts(value: JsonValue) -> list[str]:
    """A frontmatter value as folded text; of a list, each item."""
    items = value if isinstance(value, list) else [value]
    return [fold(_text(item)) for item in items]


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
