"""How alike two texts are in their words: 0 to 1, without a model. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from cogvault.text.tokens import is_dense, is_identifier, stem, words

__all__ = ["NEAR", "Print", "likeness", "print_of", "share", "telling_words"]

# From here on two texts say nearly the same. Set on tests/lifecycle/likeness_pairs.py; moving it needs that set.
NEAR = 0.7
# Weight of a word of at most three letters beside a longer one: mostly articles and prepositions, in any language.
_SHORT = 0.25
_SHORT_LETTERS = 3
# What tells one fact from another of the same form: numbers, keys, versions.
_IDENTIFIER = 1.5


@dataclass(frozen=True, slots=True)
class Print:
    """What is compared of a text.

    Attributes:
        digest: hex SHA-256 of the text without blank lines and blanks at its ends, whatever its newlines.
        weights: its distinct stems, identifiers whole, with what each counts.
    """

    digest: str
    weights: Mapping[str, float]


def print_of(text: str) -> Print:
    """The print of a text."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    weights: dict[str, float] = {}
    for word in words(plain):
        if is_identifier(word) and not is_dense(word):
            weights[word] = _IDENTIFIER
        else:
            weights[stem(word)] = _SHORT if len(word) <= _SHORT_LETTERS and not is_dense(word) else 1.0
    return Print(hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest(), weights)


def likeness(one: Print, other: Print) -> float:
    """Weighted Dice coefficient of the distinct words (Dice 1945): twice what is shared, by what both have.

    1 for texts with the same words in any order, 0 for texts without a common one.
    """
    if one.digest == other.digest:
        return 1.0
    shared = sum(weight for word, weight in one.weights.items() if word in other.weights)
    total = sum(one.weights.values()) + sum(other.weights.values())
    return 2 * shared / total if total else 0.0


def share(one: Print, text: str) -> float:
    """How much of what counts in a print stands in a text, 0 to 1; quicker than another print."""
    there = set(words(text))
    there |= {stem(word) for word in there}
    total = sum(one.weights.values())
    return sum(weight for word, weight in one.weights.items() if word in there) / total if total else 0.0


def telling_words(text: str, limit: int) -> list[str]:
    """The ``limit`` words of a text that tell it best from others: identifiers, then the longest; each once."""
    found = list(dict.fromkeys(words(text)))
    found.sort(key=lambda word: (not is_identifier(word), -len(word)))
    return found[:limit]
