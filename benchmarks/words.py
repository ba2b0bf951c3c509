"""Made-up prose with a realistic distribution of words: function words as in English, content words by Zipf's law."""

from __future__ import annotations

import random
from functools import cache

_COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "this",
    "are",
    "or",
    "his",
    "from",
    "at",
    "which",
    "but",
    "have",
    "an",
    "had",
    "they",
    "you",
    "were",
    "their",
    "one",
    "all",
    "we",
    "can",
    "her",
    "has",
    "there",
    "been",
    "if",
    "more",
    "when",
    "will",
    "would",
    "who",
    "so",
    "no",
    "what",
    "how",
    "why",
    "where",
    "does",
    "did",
]
_STARTS = [
    "b",
    "br",
    "c",
    "ch",
    "cl",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "pr",
    "qu",
    "r",
    "s",
    "sh",
    "sl",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "z",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ee", "io", "ou"]
_ENDS = [
    "b",
    "ck",
    "d",
    "ft",
    "g",
    "l",
    "ll",
    "m",
    "n",
    "nd",
    "ng",
    "nt",
    "p",
    "r",
    "rd",
    "rm",
    "s",
    "sh",
    "ss",
    "st",
    "t",
    "th",
    "x",
]
VOCABULARY = 40_000


@cache
def vocabulary(size: int = VOCABULARY) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Distinct made-up words of one to three syllables, and their cumulative Zipf weights."""
    rng = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < size:
        parts = (rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS) for _ in range(rng.choice((1, 2, 2, 3))))
        found["".join(parts)] = None
    total = 0.0
    weights = []
    for rank in range(1, size + 1):
        total += 1 / (rank + 20)
        weights.append(total)
    return tuple(found), tuple(weights)


def sentence(rng: random.Random, size: int = 14) -> str:
    """One sentence of about ``size`` words, half of them function words."""
    words, weights = vocabulary()
    content = rng.choices(words, cum_weights=weights, k=size // 2)
    common = rng.choices(_COMMON, k=size - len(content))
    mixed = content + common
    rng.shuffle(mixed)
    return " ".join(mixed).capitalize() + "."


def sentences(rng: random.Random, count: int) -> list[str]:
    """``count`` sentences."""
    return [sentence(rng, rng.randrange(8, 20)) for _ in range(count)]
