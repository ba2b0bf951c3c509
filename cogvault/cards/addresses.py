"""Addresses and paths of cards, both ways and in one grammar. Pure; every refusal is that of ``cards.paths``.

``cogvault://{session|user|agent|resources}/{scope}/{category…}/{id}.md`` names the card at that path in the folder of
the same name, ``cortex://`` likewise. A card in none of these folders is ``cogvault://resources/<path>``; should
``resources/<path>`` be a card too, it has that address, and the other one is ``cogvault://vault/<path>``, which any
path may be written as. So every card has one address, and an address leads to one card.

Names are percent-encoded, and decoded exactly once, each by itself: an encoded separator stays inside its name, where
it is refused.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote, unquote

from cogvault.cards.paths import is_usable_name, refusal
from cogvault.text.normalise import fold, nfc

__all__ = [
    "DIMENSIONS",
    "EVERYTHING",
    "Prefix",
    "card_at",
    "card_uri",
    "find_card",
    "folder_uri",
    "has_card",
    "is_address",
    "paths_of",
    "place_of",
    "prefix_of",
]

RESOURCES = "resources"
DIMENSIONS = ("session", "user", "agent", RESOURCES)
_ROOT = "vault"
_SCHEME = re.compile(r"(?:cogvault|cortex)://", re.IGNORECASE)


class Identified(Protocol):
    """What is known by its id; ``Card`` and ``CardInfo`` are."""

    @property
    def id(self) -> str:
        """Vault-relative path with its suffix."""


_Card = TypeVar("_Card", bound=Identified)


@dataclass(frozen=True, slots=True)
class Prefix:
    """A part of a vault, on path boundaries.

    Attributes:
        inside: folders or cards, any of them; "" = the whole vault. Compared folded.
        outside: folders that do not belong to it.
        as_written: ``inside`` is compared as it is written instead, in NFC.
    """

    inside: tuple[str, ...] = ("",)
    outside: tuple[str, ...] = ()
    as_written: bool = False

    def holds(self, id: str) -> bool:
        """True when the card with this id lies in it."""
        if any(id.startswith(f"{folder}/") for folder in self.outside):
            return False
        form = nfc if self.as_written else fold
        known = form(id)
        return any(not base or known == base or known.startswith(f"{base}/") for base in map(form, self.inside))

    def among(self, cards: Sequence[Identified]) -> Prefix:
        """The same, as written where one of the cards, which are ordered by id, lies in it as it is written: of folders
        that differ in case only, the one that was named.
        """
        written = tuple(nfc(base) for base in self.inside)
        is_there = any(base and (has_card(cards, base) or _has_cards_below(cards, base)) for base in written)
        return Prefix(written, self.outside, as_written=True) if is_there else self


EVERYTHING = Prefix()


def is_address(text: str) -> bool:
    """True for text that begins as an address does; anything else is a path."""
    return _SCHEME.match(text) is not None


def card_uri(id: str, is_card: Callable[[str], bool]) -> str:
    """The address of a card.

    Args:
        id: its id.
        is_card: True for the id of a card of the vault.
    """
    head, _, rest = id.partition("/")
    if head in DIMENSIONS and rest:
        dimension, path = head, rest
    else:
        dimension, path = (_ROOT if is_card(f"{RESOURCES}/{id}") else RESOURCES), id
    return f"cogvault://{dimension}/{quote(path, safe='/')}"


def folder_uri(folder: str) -> str:
    """The address of one of the four folders of addresses, or of a folder below it."""
    return f"cogvault://{quote(folder, safe='/')}/"


def paths_of(text: str) -> tuple[str, ...]:
    """The vault-relative paths that an id, path or address may mean, the one that counts first.

    Args:
        text: of one card; a path is taken literally, an address is decoded once.

    Raises:
        PathError: it is no plain relative path of usable names, or no address of one.
    """
    dimension, parts = _parsed(text)
    if not parts:
        raise refusal(text)
    return _places(dimension, "/".join(parts))


def prefix_of(text: str) -> Prefix:
    """The part of a vault that a folder, a card, or the beginning of an address means.

    Args:
        text: a ``/`` at its end does not matter, nor does ``./`` in front of a path; "" and ``cogvault://`` are the
            whole vault, ``cogvault://resources/`` is all outside of the other three.

    Raises:
        PathError: as for ``paths_of``.
    """
    if not is_address(text):
        text = text.removeprefix("./")
    if text.startswith("/"):
        raise refusal(text)
    plain = text.removesuffix("/")
    if plain in ("", ".") or _SCHEME.fullmatch(text):
        return EVERYTHING
    dimension, parts = _parsed(plain)
    if parts:
        return Prefix(_places(dimension, "/".join(parts)))
    if dimension == RESOURCES:
        return Prefix(outside=tuple(name for name in DIMENSIONS if name != RESOURCES))
    return EVERYTHING if dimension == _ROOT else Prefix((dimension,))


def find_card(cards: Sequence[_Card], text: str) -> _Card | None:
    """The card that an id, its path on disk or its address names; None = there is none.

    Args:
        cards: all cards of the vault, ordered by id.
        text: the name.

    Raises:
        PathError: the text can be no card's name.
    """
    for path in paths_of(text):
        for id in (path, nfc(path)):
            if (card := card_at(cards, id)) is not None:
                return card
    return None


def place_of(cards: Sequence[Identified], text: str) -> str:
    """The path of the card or folder that an address means; any other text is a path already.

    Args:
        cards: all cards of the vault, ordered by id.
        text: address or path of a card or folder.

    Raises:
        PathError: it begins as an address and is none.
    """
    if not is_address(text):
        return text
    part = prefix_of(text)
    places = (RESOURCES,) if part.outside else part.inside
    return next((place for place in places if any(Prefix((place,)).holds(card.id) for card in cards)), places[-1])


def has_card(cards: Sequence[Identified], id: str) -> bool:
    """True when one of the cards, which are ordered by id, has this id."""
    return card_at(cards, id) is not None


def _has_cards_below(cards: Sequence[Identified], folder: str) -> bool:
    place = bisect_left(cards, f"{folder}/", key=lambda card: card.id)
    return place < len(cards) and cards[place].id.startswith(f"{folder}/")


def card_at(cards: Sequence[_Card], id: str) -> _Card | None:
    """The card with this id among cards that are ordered by id; None = there is none."""
    place = bisect_left(cards, id, key=lambda card: card.id)
    return cards[place] if place < len(cards) and cards[place].id == id else None


def _parsed(text: str) -> tuple[str, list[str]]:
    """Dimension ("" for a plain path) and names, decoded."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        dimension, parts = "", text.split("/")
    else:
        authority, *written = text[scheme.end() :].split("/")
        dimension = authority.lower()
        try:
            parts = [unquote(name, errors="strict") for name in written]
        except UnicodeDecodeError as error:
            raise refusal(text) from error
        if dimension not in (*DIMENSIONS, _ROOT):
            raise refusal(text)
    if not all(map(is_usable_name, parts)):
        raise refusal(text)
    return dimension, parts


def _places(dimension: str, path: str) -> tuple[str, ...]:
    if dimension in ("", _ROOT):
        return (path,)
    own = f"{dimension}/{path}"
    head, _, rest = path.partition("/")
    if dimension == RESOURCES and not (rest and head in DIMENSIONS):
        return own, path
    return (own,)
