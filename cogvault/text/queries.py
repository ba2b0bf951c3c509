"""A query's text to weighted terms. Pure."""

from __future__ import annotations

from collections.abc import Callable

from cogvault.text.tokens import grams, is_dense, is_identifier, stem, words
from cogvault.types import Term, TermKind

# Caps: more of a pasted text than this never changes the best hits, and time stays bounded.
MAX_QUERY_BYTES = 8 * 1024
MAX_QUERY_WORDS = 64

EXACT_WEIGHT = 0.5
STEM_WEIGHT = 1.0
GRAM_WEIGHT = 0.5
# A word with a digit, a joiner or a symbol is an identifier: its exact form says more than its stem.
IDENTIFIER_WEIGHT = 1.0

SPEAKER_FIELD = "speaker:"


def cut_query(text: str) -> str:
    """The part of a query that is used: its first ``MAX_QUERY_BYTES`` bytes of UTF-8, on a character boundary."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_QUERY_BYTES:
        return data.decode("utf-8")
    return data[:MAX_QUERY_BYTES].decode("utf-8", "ignore")


def query_words(text: str) -> list[str]:
    """Distinct words of a query in order, at most ``MAX_QUERY_WORDS``."""
    return list(dict.fromkeys(words(text)))[:MAX_QUERY_WORDS]


def speaker_form(word: str) -> str:
    """The one word under which a turn is indexed by a word of its speaker's name.

    Words of scripts that are searched by pairs of characters stand as their code points: glued to a prefix they would
    be cut off again.

    >>> speaker_form("ana"), speaker_form("o'brien"), speaker_form("小明")
    ('speaker:ana', "speaker:o'brien", 'speaker:5c0f660e')
    """
    return SPEAKER_FIELD + ("".join(f"{ord(character):x}" for character in word) if is_dense(word) else word)


def alike(word: str) -> float:
    """Every word counts the same."""
    return 1.0


def query_terms(text: str, weight_of: Callable[[str], float] = alike) -> tuple[Term, ...]:
    """Weighted terms of a query, each kind and text once.

    Every word gives its exact form, stem and grams, and the form under which a dialogue turn's speaker is indexed
    (weight 0: it finds candidates for nobody, and scoring looks at it on its own).

    Args:
        text: the query.
        weight_of: how much a word counts, above 0; a term that several words give counts as the one that counts most.
    """
    found: dict[tuple[TermKind, str], float] = {}

    def add(kind: TermKind, term: str, weight: float) -> None:
        found[kind, term] = max(weight, found.get((kind, term), 0.0))

    for word in query_words(text):
        share = weight_of(word)
        add(TermKind.EXACT, word, share * (IDENTIFIER_WEIGHT if is_identifier(word) else EXACT_WEIGHT))
        add(TermKind.STEM, stem(word), share * STEM_WEIGHT)
        for gram in grams(word):
            add(TermKind.GRAM, gram, share * GRAM_WEIGHT)
        if word.isalpha() or any(map(str.isalpha, word)):
            add(TermKind.EXACT, speaker_form(word), 0.0)
    return tuple(Term(kind, term, weight) for (kind, term), weight in found.items())
