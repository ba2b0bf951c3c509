"""How much a word says by itself, in any language: "how" next to nothing, "backup" a lot.

A vault tells which of its words are common, but not a small vault, where "how" may stand in no card at all. So a
table tells how common words are in the languages of the world: the vocabulary of multilingual-e5-small, which is
XLM-RoBERTa's (MIT license): a unigram model of a hundred languages, evened out between them, without a list of stop
words for any. ``python -m tests.text.common_words`` made the table from the weights that the bundled model reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

# Minus the natural logarithm of a word's share of all words; where nothing starts to be known, and where all is.
COMMONEST, RAREST = 9.0, 12.0
LEAST = 0.1
# In a vault of so many chunks the table counts half, next to what the vault itself tells.
PRIOR_CHUNKS = 250


def weight_of(word: str, chunks: int) -> float:
    """How much a query's word counts, from ``LEAST`` for the commonest to 1 for one that the table does not hold.

    Args:
        word: one of ``tokens.words``.
        chunks: in the vault; the more there are, the nearer to 1 is any weight.

    >>> weight_of("the", chunks=0), round(weight_of("the", chunks=250), 2), weight_of("backup", chunks=0)
    (0.1, 0.32, 1.0)
    """
    rarity = _table().get(word, RAREST)
    weight = min(1.0, max(LEAST, (rarity - COMMONEST) / (RAREST - COMMONEST)))
    return float(weight ** (PRIOR_CHUNKS / (PRIOR_CHUNKS + chunks)))


@cache
def _table() -> Mapping[str, float]:
    """Rarity of each word that the table holds: a line is tenths of it, then the words."""
    lines = (Path(__file__).parent / "common_words.txt").read_text("utf-8").splitlines()
    rows = [line.split(" ") for line in lines if not line.startswith("#")]
    return MappingProxyType({word: int(tenths) / 10 for tenths, *words in rows for word in words})
