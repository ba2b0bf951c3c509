"""How often the terms of a query stand in texts that are given as word ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.indexes.local.arrays import runs, sizes_between
from cogvault.indexes.local.codec import WordArray
from cogvault.types import FloatArray, IntArray

_NO_WORDS: WordArray = np.empty(0, np.uint32)
Place: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ColumnsOfWords:
    """Which columns of a table of counts each word is counted in.

    Attributes:
        counts: (vocabulary,) whether a word counts at all.
        of_word: (vocabulary,) int32, place of each word that does in ``first`` and ``sizes``.
        first: (places,) where the columns of each word start in ``columns``.
        sizes: (places,) how many columns each word is counted in.
        columns: columns of all words, one word after another.
    """

    counts: npt.NDArray[np.bool_]
    of_word: npt.NDArray[np.int32]
    first: IntArray
    sizes: IntArray
    columns: IntArray

    @classmethod
    def of(cls, members: Sequence[WordArray], vocabulary: int) -> ColumnsOfWords:
        """Turn the words of each column into the columns of each word.

        Args:
            members: ids of the words that count in each column, each once.
            vocabulary: a number above every word id.
        """
        bits = len(members).bit_length()
        # One number for a word and a column: sorting those takes a seventh of the time of ordering words.
        pairs = np.concatenate([_NO_WORDS, *members]).astype(np.int64) << bits
        pairs |= np.arange(len(members)).repeat([len(own) for own in members])
        pairs.sort()
        words = pairs >> bits
        starts, sizes = runs(words)
        of_word = np.zeros(vocabulary, np.int32)
        of_word[words[starts]] = np.arange(len(starts))
        counts = np.zeros(vocabulary, np.bool_)
        counts[words] = True
        return cls(counts, of_word, starts, sizes, pairs & ((1 << bits) - 1))


@dataclass(frozen=True, slots=True)
class ResolvedTerms:
    """Terms of one query in one view.

    Attributes:
        chunk_frequency: (terms,) as in ``types.Evidence``.
        card_frequency: (terms,) as in ``types.Evidence``.
        places: field of the keyword part, and number there, of each term; None = it does not occur.
        of_words: which words are counted in which columns.
        columns: (terms,) the column in which each term is counted. What is the same word is counted once, and the last
            column, which counts nothing, is that of all terms that do not occur.
        width: how many columns there are.
    """

    chunk_frequency: FloatArray
    card_frequency: FloatArray
    places: Sequence[Place | None]
    of_words: ColumnsOfWords
    columns: IntArray
    width: int

    @classmethod
    def of(
        cls,
        members: Sequence[WordArray],
        places: Sequence[Place | None],
        frequencies: tuple[FloatArray, FloatArray],
        vocabulary: int,
    ) -> ResolvedTerms:
        """Put terms together.

        Args:
            members: ids of the words that count for each term, each once.
            places: as the attribute; terms of one place have the same words.
            frequencies: of chunks and of cards.
            vocabulary: a number above every word id.
        """
        own = {place: words for place, words in zip(places, members, strict=True) if place is not None}
        column_of = {place: column for column, place in enumerate(own)}
        columns = [len(own) if place is None else column_of[place] for place in places]
        of_words = ColumnsOfWords.of(list(own.values()), vocabulary)
        return cls(*frequencies, places, of_words, np.array(columns, np.int64), len(own) + 1)

    def count(self, words: IntArray, lengths: IntArray, rows: IntArray, size: int) -> IntArray:
        """How many words of some texts are counted in each column: (size, width).

        Args:
            words: word ids of the texts, one text after another.
            lengths: (texts,) words in each.
            rows: (texts,) the row in which each is counted.
            size: how many rows there are.
        """
        of_words, width = self.of_words, self.width
        hits = of_words.counts.take(words).nonzero()[0]
        if not len(hits):
            return np.zeros((size, width), np.int64)
        found = of_words.of_word.take(words.take(hits))
        first, sizes = of_words.first.take(found), of_words.sizes.take(found)
        # A hit is counted in several columns, whose places follow each other: from here on by those.
        before = np.zeros(len(hits) + 1, np.int64)
        sizes.cumsum(out=before[1:])
        steps = np.ones(before[-1], np.int64)
        steps[0] = first[0]
        steps[before[1:-1]] = first[1:] - (first + sizes)[:-1] + 1
        counters = of_words.columns.take(steps.cumsum(out=steps))
        of_text = sizes_between(before.take(hits.searchsorted(lengths.cumsum())))
        counters += (rows * width).repeat(of_text)
        return np.bincount(counters, minlength=size * width).reshape(size, width)

    def by_term(self, counts: IntArray) -> FloatArray:
        """What ``count`` gave, or sums of its rows (n, width), for each term: (n, terms)."""
        return counts.take(self.columns, axis=1).astype(np.float32)
