"""Every name of every card, and which of them can be like a text at all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.indexes.difference import difference
from cogvault.text.normalise import fold
from cogvault.types import CardInfo, IntArray

__all__ = ["Names", "name_form"]

_Name: TypeAlias = tuple[str, CardInfo]
_Letters: TypeAlias = npt.NDArray[np.uint8]

# Letters are counted by the last five bits of their code, which tell those of most alphabets apart.
_KINDS = 32
_MOST = 255
# Names whose letters are counted in one go.
_BATCH = 512


class Names:
    """Names, shortest first: folded text, and its card. Follows from one snapshot to the next."""

    _cards: Sequence[CardInfo]
    _texts: list[str]
    _owners: list[CardInfo]
    _letters: _Letters
    _lengths: IntArray

    def __init__(self, cards: Sequence[CardInfo]) -> None:
        self._make(cards)

    def follow(self, cards: Sequence[CardInfo]) -> None:
        """Hold the names of another snapshot."""
        if cards is self._cards:
            return
        change = difference(self._cards, cards)
        if change.is_large:
            self._make(cards)
            return
        gone = sorted(map(self._place, _names_of(change.gone)))
        for place in reversed(gone):
            del self._texts[place], self._owners[place]
        come = sorted(_names_of(change.come), key=_order)
        places = list(map(self._place, come))
        for place, (text, card) in zip(reversed(places), reversed(come), strict=True):
            self._texts.insert(place, text)
            self._owners.insert(place, card)
        letters, lengths = _counted([text for text, _ in come])
        self._letters = np.insert(np.delete(self._letters, gone, axis=1), places, letters, axis=1)
        self._lengths = np.insert(np.delete(self._lengths, gone), places, lengths)
        self._cards = cards

    def near(self, text: str, cutoff: float) -> list[_Name]:
        """Names that may be as similar to a text as ``cutoff`` (0 to 1): all that are, and a few more; their cards.

        Similarity is twice the letters that both have in one order, by the letters of both. So it is at most
        2 * shorter / (shorter + longer), and what both have in any order tells nearly the rest, in a tenth of the time.
        """
        # One letter more either way, so that rounding leaves nothing out.
        share = cutoff / (2.0 - cutoff)
        first, end = np.searchsorted(self._lengths, (len(text) * share - 1, len(text) / share + 1)).tolist()
        own = np.bincount(_kinds(text), minlength=_KINDS)
        counted = np.minimum(own, _MOST)
        shared = np.minimum(self._letters[:, first:end], counted.astype(np.uint8)[:, None]).sum(0, np.uint16)
        # A name may hold as many as the text of what is not counted.
        least = cutoff / 2 * (self._lengths[first:end] + len(text)) - int((own - counted).sum()) - 1
        places = (first + np.flatnonzero(shared >= least)).tolist()
        return [(self._texts[place], self._owners[place]) for place in places]

    def _place(self, name: _Name) -> int:
        """Where a name of a card stands, or is to stand."""
        texts, owners = self._texts, self._owners
        return bisect_left(range(len(texts)), _order(name), key=lambda place: _order((texts[place], owners[place])))

    def _make(self, cards: Sequence[CardInfo]) -> None:
        found = _names_of(cards)
        # As by ``_order``, but one key after the other: all three together take more memory than the names.
        found.sort(key=lambda name: name[1].id)
        found.sort(key=lambda name: name[0])
        found.sort(key=lambda name: len(name[0]))
        self._texts = [text for text, _ in found]
        self._owners = [card for _, card in found]
        self._letters, self._lengths = _counted(self._texts)
        # Last, so that what was broken off is not taken for the names of these cards.
        self._cards = cards


def name_form(text: str) -> str:
    """A name or query for comparison: folded, separators as single spaces, without an ``.md`` ending."""
    folded = fold(text).removesuffix(".md")
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _names_of(cards: Iterable[CardInfo]) -> list[_Name]:
    """Names of some cards for comparison, of each card each once."""
    return [(name, card) for card in cards for name in _forms(card)]


def _forms(card: CardInfo) -> Iterable[str]:
    names = (card.title, card.name or "", PurePosixPath(card.id).stem, *card.aliases)
    return dict.fromkeys(name_form(name) for name in names if name)


def _order(name: _Name) -> tuple[int, str, str]:
    text, card = name
    return len(text), text, card.id


def _counted(texts: Sequence[str]) -> tuple[_Letters, IntArray]:
    """(kinds, n) how many letters of each kind each text has, at most 255; (n,) its length."""
    lengths = np.array([len(text) for text in texts], np.int64)
    letters = np.empty((_KINDS, len(texts)), np.uint8)
    for start in range(0, len(texts), _BATCH):
        batch = slice(start, start + _BATCH)
        size = len(lengths[batch])
        own = np.arange(size).repeat(lengths[batch]) * _KINDS + _kinds("".join(texts[batch]))
        counts = np.bincount(own, minlength=size * _KINDS).reshape(size, _KINDS)
        letters[:, batch] = np.minimum(counts, _MOST).T
    return letters, lengths


def _kinds(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") & np.uint32(_KINDS - 1)
