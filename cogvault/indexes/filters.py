"""Filters: which cards a search may return. Pure.

A filter is compiled into one check for each of its conditions, so that its own text is folded once, not once a card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import TypeAlias

import numpy as np

from cogvault.text.normalise import fold, nfc
from cogvault.types import BoolArray, CardInfo, Filter, JsonValue

_Check: TypeAlias = Callable[[CardInfo], bool]
# Longer ones are identifiers.
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?")


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
        yield _has_value(fold(key), _sameness(value))


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
        yield _is_inside(filter.paths, nfc if filter.as_written else fold)
    if filter.outside:
        yield _is_outside(filter.outside)


def _is_inside(paths: tuple[str, ...], form: Callable[[str], str]) -> _Check:
    bases = frozenset(form(path).removeprefix("./").strip("/") for path in paths)
    if bases & {"", "."}:
        return lambda card: True
    folders = tuple(f"{base}/" for base in bases)
    return lambda card: (id := form(card.id)) in bases or id.startswith(folders)


def _is_outside(folders: tuple[str, ...]) -> _Check:
    inside = tuple(f"{folder}/" for folder in folders)
    return lambda card: not card.id.startswith(inside)


def _has_value(key: str, same: Callable[[JsonValue], bool]) -> _Check:
    def check(card: CardInfo) -> bool:
        nested = card.meta.get("metadata")
        below = _held(nested, key) if isinstance(nested, dict) else ()
        return any(same(value) for value in chain(_held(card.meta, key), below))

    return check


def _held(entries: Mapping[str, JsonValue], key: str) -> Iterator[JsonValue]:
    """The values of a folded key, of a list each item; ``a.b`` is also the key ``b`` of the mapping ``a``."""
    for name, value in entries.items():
        folded = fold(name)
        if folded == key:
            yield from value if isinstance(value, list) else (value,)
        elif isinstance(value, dict) and key.startswith(f"{folded}."):
            yield from _held(value, key.removeprefix(f"{folded}."))


def _sameness(asked: str | int | float) -> Callable[[JsonValue], bool]:
    """Whether a card's value is the one asked for: a number by its value, however it is written, text as text."""
    if isinstance(asked, str):
        text = fold(asked)
        return lambda held: not isinstance(held, list | dict) and fold(_text(held)) == text
    number = Decimal(str(asked))

    def same(held: JsonValue) -> bool:
        return bool(_NUMBER.fullmatch(written := _text(held))) and Decimal(written) == number

    return same


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
