"""BM25 over explicit term counts: the order in which the keyword ranker proposes candidates. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cogvault.types import FloatArray, IntArray, Term

# Fixed point for sums of logarithms: whole numbers add up to the same in any order, so that a frequency does not depend
# on the order in which the words of an index came.
_FIXED = float(2**42)
# Of a word that every unit holds. Low enough to leave nothing, high enough for 60,000 such words to add up in 64 bits.
_LOWEST = -32.0

# The constants that tantivy fixes, so that the engine's candidates and the exact scores agree on what is best.
K1 = 1.2
B = 0.75


def log_absence(counts: npt.NDArray[np.integer], total: int) -> IntArray:
    """Logarithm of the share of units that lack a word, in fixed point; shape of ``counts``.

    Args:
        counts: units (chunks or cards) that hold each word.
        total: units in the index.
    """
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(counts / max(total, 1), 1.0))
    return np.asarray(np.rint(np.maximum(logs, _LOWEST) * _FIXED), np.int64)


def frequencies(absence: IntArray, total: int) -> FloatArray:
    """Units that hold at least one of several words, taken as independent: see ``types.Evidence``.

    Args:
        absence: (terms,) sum of ``log_absence`` over each term's words.
        total: units in the index.
    """
    return np.asarray(np.abs(np.expm1(absence / _FIXED)) * total, np.float32)


def idf(document_frequency: npt.NDArray[np.float64], documents: int) -> npt.NDArray[np.float64]:
    """Inverse document frequency, never negative; same shape as ``document_frequency``."""
    return np.asarray(np.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5)))


def scores(
    counts: FloatArray,
    lengths: FloatArray,
    mean_length: float,
    document_frequency: FloatArray,
    documents: int,
    terms: Sequence[Term],
) -> FloatArray:
    """Weighted BM25 of n chunks.

    Args:
        counts: (n, terms) how often each term stands in each chunk.
        lengths: (n,) words in each chunk.
        mean_length: words in the average chunk.
        document_frequency: (terms,) chunks that hold each term.
        documents: chunks in the index.
        terms: the query's terms, for their weights.

    Returns:
        (n,) float32. A row's score depends on that row only, bit for bit.
    """
    weights = np.array([term.weight for term in terms]) * idf(document_frequency.astype(np.float64), documents)
    weighing = np.flatnonzero(weights)
    tf = counts.T[weighing].astype(np.float64)
    norm = K1 * (1 - B + B * lengths.astype(np.float64) / (mean_length or 1.0))
    gains = tf * (K1 + 1) / (tf + norm) * weights[weighing, None]
    # Added term by term, because a vectorised sum would round differently for another memory layout.
    total = np.zeros(len(lengths))
    for gain in gains:
        total += gain
    return total.astype(np.float32)
