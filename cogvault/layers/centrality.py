"""Which sentences say most of what a text says, by the words they share. Pure, linear in the text.

The measure is degree centrality of the sentence graph (Erkan and Radev, "LexRank", JAIR 22, 2004) with word overlap for
edges, damped by length as in TextRank (Mihalcea and Tarau, EMNLP 2004), words weighted by their inverse sentence
frequency. The degree of a sentence is a sum over its words of how many others hold the word, so that the graph never
has to be built.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

import regex

from cogvault.layers.tokens import DENSE
from cogvault.text.normalise import fold
from cogvault.text.tokens import stem

# Shorter words of spaced scripts are articles and prepositions more often than subjects.
MIN_WORD = 3
# Sentences that share more than this of the words of both say the same. Below it, lines of one template begin, which
# differ in the one word that matters.
SAME = 0.8
# With less than this left of a budget there is nothing worth looking for.
MIN_COST = 3
_SCALE = 1_000_000

# Not text.tokens.words: compounds in parts and inner capitals cost ten times as much and change no order here.
_ASCII_WORD = re.compile(r"[0-9][0-9a-z]*|[a-z][0-9a-z]{2,}")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_DENSE_RUN = re.compile(rf"([{DENSE}]+)")

T = TypeVar("T")


def words(text: str) -> list[str]:
    """Folded words of a text in order; pairs of characters of dense scripts, short words left out.

    >>> words("We chose Postgres 16. 设备清单")
    ['chose', 'postgres', '16', '设备', '备清', '清单']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = fold(text)
    found = _WORD.findall(folded)
    if not _DENSE_RUN.search(folded):
        return [word for word in found if len(word) >= MIN_WORD or word[0].isdecimal()]
    pieces: list[str] = []
    for word in found:
        for number, part in enumerate(_DENSE_RUN.split(word)):
            if number % 2 and len(part) > 1:
                pieces.extend([part[i : i + 2] for i in range(len(part) - 1)])
            elif number % 2 or len(part) >= MIN_WORD or part.isdecimal():
                pieces.append(part)
    return pieces


def terms(of: Iterable[str]) -> frozenset[str]:
    """Distinct stems of words."""
    return frozenset(map(stem, of))


def centrality(sentences: Sequence[frozenset[str]]) -> list[float]:
    """Score of each sentence, given as its distinct terms: 1 for the most central, 0 for one that shares nothing."""
    frequency = Counter(chain.from_iterable(sentences))
    total = len(sentences)
    # Whole numbers: their sum does not depend on the order in which a set gives its terms.
    weight = {
        term: round(_SCALE * (count - 1) * math.log(total / count) ** 2)
        for term, count in frequency.items()
        if 1 < count < total
    }
    shared = frozenset(weight)
    degrees = [
        sum(map(weight.__getitem__, sentence & shared)) / (1 + math.log(1 + len(sentence))) for sentence in sentences
    ]
    best = max(degrees, default=0.0)
    return [degree / best for degree in degrees] if best else [0.0] * total


def spread(items: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of the items, evenly spread, the first included: bounds the time that many of them take."""
    if len(items) <= most:
        return items
    return [items[number * len(items) // most] for number in range(most)]


def pick(
    order: Iterable[int],
    sentences: Sequence[frozenset[str]],
    cost: Callable[[int], int],
    budget: int,
) -> list[int]:
    """Sentences to show, greedily in the given order, repetitions left out, as long as their cost fits the budget.

    Returns:
        Indices, ascending.
    """
    picked: list[int] = []
    left = budget
    for index in order:
        price = cost(index)
        if price <= left and not any(_same(sentences[index], sentences[other]) for other in picked):
            picked.append(index)
            left -= price
            if left < MIN_COST:
                break
    return sorted(picked)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared > SAME * (len(one) + len(other) - shared) or one == other
