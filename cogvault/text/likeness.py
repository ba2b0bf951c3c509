"""How alike two texts are in their words: 0 to 1, without a model. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cogvault.text.tokens import is_dense, is_identifier, stem, words

__all__ = ["NEAR", "Overlap", "Print", "likeness", "overlap", "print_of", "telling_words"]

# From here on two texts say nearly the same. Set on tests/lifecycle/likeness_pairs.py; moving it needs that set.
NEAR = 0.7
# Weight of a word of at most three letters beside a longer one: mostly articles and prepositions, in any language.
_SHORT = 0.25
_SHORT_LETTERS = 3
# What tells one fact from another of the same form: numbers, keys, versions.
_IDENTIFIER = 1.5
# Words that one text has in the place of others, as in "port 80" and "port 443", count as shared by this part.
_IN_PLACE = 0.5
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Print:
    """What is compared of a text.

    Attributes:
        digest: hex SHA-256 of the text without blank lines and blanks at its ends, whatever its newlines.
        weights: its distinct stems, identifiers whole, with what each counts.
    """

    digest: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a part of another text has of a print, as weights.

    Attributes:
        shared: of the words that both have.
        total: of all words of the print.
        least: what the words of the part weigh at least.
        exchanged: what other words can add that the whole has in the place of those that the part lacks.
    """

    shared: float
    total: float
    least: float
    exchanged: float = 0.0

    @property
    def share(self) -> float:
        """How much of what counts in the print stands in the part, 0 to 1."""
        return self.shared / self.total if self.total else 0.0

    def likeness(self, *, is_all: bool) -> float:
        """The most that ``likeness`` can be to the text that the part is of, or is all of: 0 to 1.

        That is when what else it says is what the print still lacks, and nothing more.
        """
        if not self.total:
            return 0.0
        if is_all:  # exchanged words of the whole weigh twice of what they add, or more
            whole = max(self.least, self.shared + self.exchanged / _IN_PLACE)
            return 2 * (self.shared + self.exchanged) / (self.total + whole)
        lacking = self.total - self.shared
        return 2 * (self.shared + lacking) / (self.total + self.least + lacking)


def print_of(text: str) -> Print:
    """The print of a text."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    weights: dict[str, float] = {}
    for word in words(plain, numbers_apart=False):
        if is_identifier(word) and not is_dense(word):
            weights[word] = _IDENTIFIER
        else:
            weights[stem(word)] = _SHORT if len(word) <= _SHORT_LETTERS and not is_dense(word) else 1.0
    return Print(hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest(), weights)


def likeness(one: Print, other: Print) -> float:
    """Weighted Dice coefficient of the distinct words (Dice 1945): twice what is shared, by what both have.

    Where one has a number in the place of another number, half of its weight counts as shared; and so does one other
    word in the place of another: a corrected fact is its old form with another value.

    1 for texts with the same words in any order, 0 for texts without a common one.
    """
    if one.digest == other.digest:
        return 1.0
    shared = sum(weight for word, weight in one.weights.items() if word in other.weights)
    total = sum(one.weights.values()) + sum(other.weights.values())
    if not shared:
        return 0.0
    here, there = (_exchangeable(a.weights, a.weights.keys() - b.weights) for a, b in ((one, other), (other, one)))
    exchanged = sum(
        min(mine, its)
        for those, others in zip(here, there, strict=True)
        for mine, its in zip(those, others, strict=False)
    )
    return 2 * (shared + _IN_PLACE * exchanged) / total


def overlap(one: Print, text: str) -> Overlap:
    """What a part of another text has of a print; quicker than a print of it."""
    found = set(words(text, numbers_apart=False))
    stems = {stem(word) for word in found}
    found |= stems
    total = sum(one.weights.values())
    lacking = one.weights.keys() - found
    shared = total - sum(one.weights[word] for word in lacking)
    exchanged = _IN_PLACE * sum(map(sum, _exchangeable(one.weights, lacking)))
    # A stem of more letters is one of a longer word, and nothing weighs less than a short one.
    least = sum(1.0 if len(each) > _SHORT_LETTERS else _SHORT for each in stems)
    return Overlap(shared, total, max(shared, least), exchanged)


def _exchangeable(weights: Mapping[str, float], words: Iterable[str]) -> tuple[list[float], list[float]]:
    """Weights of the words that may stand in the place of others, heaviest first: numbers, and another word when it is
    the only one; of a script without blanks one character, which is in two pairs of them."""
    numbers: list[str] = []
    others: list[str] = []
    for word in words:
        (numbers if _DIGIT.search(word) else others).append(word)
    if len(others) > (2 if all(map(is_dense, others)) else 1):
        others = []
    return sorted((weights[word] for word in numbers), reverse=True), sorted(weights[word] for word in others)


def telling_words(text: str, limit: int) -> list[str]:
    """The ``limit`` words of a text that tell it best from others: identifiers, then the longest; each once."""
    found = list(dict.fromkeys(words(text)))
    found.sort(key=lambda word: (not is_identifier(word), -len(word)))
    return found[:limit]
