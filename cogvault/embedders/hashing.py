"""An embedder without a model: hashed words and character n-grams.

It needs numpy only, starts at once and gives the same vectors everywhere (to rounding), so tests, docs and
machines without a model can rely on it. Its geometry is real: texts that share words, stems or
substrings are near each other, unrelated texts are not. It knows nothing about meaning.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cogvault.types import FloatArray

# Runs of anything that is neither white space nor punctuation. `\w+` would cut words of scripts
# whose vowels are combining marks (Hindi, Thai) into pieces.
_WORDS: Final = re.compile(r"[^\s!-/:-@\[-`{-~\u00a1-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f]+")
_FIRST_CJK: Final = 0x2E80
_SHORT_WORD_CHARS: Final = 3
_SHORT_WORD_WEIGHT: Final = 0.3
_GRAMS_WEIGHT: Final = 1.5
_VERSION: Final = 1
_MAX_TOKENS: Final = 512


class HashingEmbedder:
    """Deterministic bag of hashed words and character n-grams (signed feature hashing).

    Every word is one feature plus its character 3- and 4-grams (for CJK: characters and bigrams), so
    "embedding" and "embeddings" are near. Counts grow sub-linearly and words of up to three letters,
    which are mostly function words, weigh less. Rows are L2-normalized.

    Safe for use from many threads: it has no mutable state.
    """

    name: Final[str] = "hashing"
    floor: Final[float | None] = 0.1
    ceiling: Final[float | None] = 0.5

    __slots__ = ("_dim", "_seed")

    def __init__(self, dim: int = 256, seed: int = 0) -> None:
        """Make an embedder.

        Args:
            dim: Width of the vectors; at least 8.
            seed: Another seed gives another, equally good, space.

        Raises:
            ValueError: If `dim` is below 8.
        """
        if dim < 8:
            msg = f"dim must be at least 8, got {dim}"
            raise ValueError(msg)
        self._dim = dim
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        """Text naming everything that shapes the vectors."""
        return f"hashing:v{_VERSION}:dim={self._dim}:seed={self._seed}"

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self._dim

    @property
    def max_tokens(self) -> int:
        """A nominal window in words; longer texts are embedded whole."""
        return _MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of words of each text, a CJK character counting as a word."""
        return [sum(len(word) if _is_cjk(word) else 1 for word in _WORDS.findall(text)) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts.

        Args:
            texts: n texts of any length; a blank one gives a row of zeros.

        Returns:
            Array of shape (n, dim), float32, rows L2-normalized.
        """
        out = np.zeros((len(texts), self._dim), dtype=np.float32)
        vectors: dict[str, FloatArray] = {}
        for row, text in zip(out, texts, strict=True):
            counts = _word_counts(text)
            if not counts:
                continue
            for word in counts:
                if word not in vectors:
                    vectors[word] = self._word_vector(word)
            weights = np.array([1.0 + math.log(count) for count in counts.values()], dtype=np.float32)
            np.dot(weights, np.stack([vectors[word] for word in counts]), out=row)
            norm = float(np.linalg.norm(row))
            if norm > 0.0:
                row /= np.float32(norm)
        return out

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query in the same space: shape (dim,), float32, L2-normalized."""
        vector: FloatArray = self.embed_documents([text])[0]
        return vector

    def _word_vector(self, word: str) -> FloatArray:
        vector = np.zeros(self._dim, dtype=np.float32)
        cjk = _is_cjk(word)
        weight = _SHORT_WORD_WEIGHT if not cjk and len(word) <= _SHORT_WORD_CHARS else 1.0
        self._add(vector, "w" + word, weight)
        grams = list(_grams(word, cjk=cjk))
        # CJK runs are phrases: their weight grows with their length, that of a word does not.
        each = weight if cjk else weight * _GRAMS_WEIGHT / math.sqrt(len(grams) or 1)
        for gram in grams:
            self._add(vector, "g" + gram, each)
        return vector

    def _add(self, vector: FloatArray, feature: str, weight: float) -> None:
        crc = zlib.crc32(feature.encode("utf-8", "surrogatepass"), self._seed & 0xFFFFFFFF)
        # CRC is linear; a multiplication breaks up the patterns similar n-grams would make.
        mixed = (crc * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        sign = 1.0 if mixed >> 63 else -1.0
        vector[(mixed >> 24) % self._dim] += np.float32(sign * weight)


def _word_counts(text: str) -> Counter[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = Counter(_WORDS.findall(folded))
    if not words and folded.strip():
        words[folded.strip()] = 1  # punctuation only: still a text, so not a row of zeros
    return words


def _is_cjk(word: str) -> bool:
    return ord(word[0]) >= _FIRST_CJK


def _grams(word: str, *, cjk: bool) -> Iterator[str]:
    if cjk:
        yield from word
        yield from (word[i : i + 2] for i in range(len(word) - 1))
        return
    padded = f"<{word}>"
    for size in (3, 4):
        yield from (padded[i : i + size] for i in range(len(padded) - size + 1))
