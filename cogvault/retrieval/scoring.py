"""One absolute score for a chunk from three layers (design.md, decisions 3 and 4). Pure.

Each layer's score is in [0, 1]: a keyword part (BM25 divided by the score that a text equal to the query would get)
and a semantic part (cosine between the model's background floor and its ceiling), mixed by ``semantic_weight`` and
renormalized when one is missing. Final = weighted mean of L2 (chunk), L1 (chunk and neighbors) and L0 (card), then
bonuses for a query that names the turn's speaker, a day of which the chunk speaks, or the card's title.

BM25: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of Lucene,
ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cogvault.retrieval.days import day_columns
from cogvault.text.queries import speaker_form
from cogvault.types import Evidence, FloatArray, LayerEvidence, Term, TermKind

# Explored on LoCoMo and XQuAD; what each is worth: docs/explanation/scoring.md.
K1 = 0.9
B_DETAIL, B_WINDOW, B_CARD = 0.3, 0.5, 0.75
KEYWORD_FLOOR = 0.08
SPEAKER_BONUS = 0.08
# A word of a name may be common if it stands in no more chunks than this, and in no larger share of them.
COMMON_CHUNKS = 10
COMMON_SHARE = 0.1
# Enough to pass the last threshold alone: who asks what was on a day has asked for nothing else.
DAY_BONUS = 0.3
TITLE_BONUS = 0.92
TITLE_FLOOR = 0.8

_Float = TypeVar("_Float", bound=np.floating[Any])


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosines that mean "unrelated" (floor) and "as near as an answer gets" (ceiling) for one model on one index."""

    floor: float
    ceiling: float


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """Weights of the score.

    Attributes:
        layer_weights: of L2, L1, L0.
        semantic_weight: share of the semantic part in each layer.
        calibration: None = the semantic part is missing.
        keyword: False = the keyword part is missing.
        window: chunks on either side that make up L1.
    """

    layer_weights: tuple[float, float, float]
    semantic_weight: float
    window: int
    calibration: Calibration | None = None
    keyword: bool = True


@dataclass(frozen=True, slots=True)
class LayerScores:
    """One layer's parts for every candidate, each (n,) float32 in [0, 1]; NaN = the part is missing."""

    keyword: FloatArray
    semantic: FloatArray
    score: FloatArray


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of candidates, each (n,) float32: three layers, bonuses, and their sum in [0, 1]."""

    detail: LayerScores
    window: LayerScores
    card: LayerScores
    speaker: FloatArray
    day: FloatArray
    title: FloatArray
    final: FloatArray


def score(evidence: Evidence, terms: Sequence[Term], titles: FloatArray, options: ScoringOptions) -> Scores:
    """Score every candidate.

    Args:
        evidence: what the index knows of the candidates.
        terms: the query's terms, as given to ``Snapshot.evidence``.
        titles: (n,) similarity of the query to the card's best title or name, 0 to 1.
        options: weights.
    """
    query_length = sum(1 for term in terms if term.kind is TermKind.EXACT and term.weight > 0)
    own = np.array([term.weight for term in terms], dtype=np.float32)
    layers = [
        _layer(layer, own * idf, query_length, b, options)
        for layer, idf, b in zip(
            (evidence.detail, evidence.window, evidence.card),
            layer_idf(evidence, options.window),
            (B_DETAIL, B_WINDOW, B_CARD),
            strict=True,
        )
    ]
    base = sum((w * layer.score for w, layer in zip(options.layer_weights, layers, strict=True)), start=np.float32(0))
    base = base / np.float32(sum(options.layer_weights))
    speaker = speaker_match(evidence, terms) * np.float32(SPEAKER_BONUS) * (1 - base)
    spoken = base + speaker
    day = _holds_any(evidence, day_columns(terms)) * np.float32(DAY_BONUS) * (1 - spoken)
    dated = spoken + day
    title = title_strength(titles) * np.float32(TITLE_BONUS) * (1 - dated)
    return Scores(layers[0], layers[1], layers[2], speaker, day, title, _clip(dated + title, 0, 1))


def title_strength(similarity: FloatArray) -> FloatArray:
    """How much a title match counts: nothing below ``TITLE_FLOOR``, all at 1."""
    return np.asarray(_clip((similarity - TITLE_FLOOR) / (1 - TITLE_FLOOR), 0, 1), dtype=np.float32)


def layer_idf(evidence: Evidence, window: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(terms,) idf of each term at L2, L1 and L0.

    How many windows hold a term is not known, but it lies between chunks and cards: words come in bursts, so that a
    card of m chunks is worth only e <= m independent ones, where 1 - card share = (1 - chunk share) ** e; a window is
    worth its part of that.

    Args:
        evidence: chunk and card frequencies.
        window: chunks on either side of a chunk that make its window.
    """
    chunks, cards = max(evidence.chunk_count, 1), max(evidence.card_count, 1)
    share = _clip(evidence.chunk_frequency / chunks, 1e-9, 1 - 1e-6).astype(np.float64)
    card_share = _clip(evidence.card_frequency / cards, 0, 1 - 1e-6).astype(np.float64)
    size = max(chunks / cards, 1.0)
    worth = _clip(np.log1p(-card_share) / np.log1p(-share), 1.0, size)
    part = (min(2 * window + 1, size) - 1) / (size - 1) if size > 1 else 0.0
    in_windows = chunks * -np.expm1((1 + part * (worth - 1)) * np.log1p(-share))
    return (
        idf(evidence.chunk_frequency, chunks),
        idf(np.where(evidence.chunk_frequency > 0, in_windows, 0.0), chunks),
        idf(evidence.card_frequency, cards),
    )


def idf(frequency: npt.NDArray[np.floating[Any]], units: int) -> FloatArray:
    """Lucene's inverse document frequency: how much it says that a unit holds a term.

    A term that no unit holds says as much as one that a single unit holds: that it stands nowhere is chance in a small
    vault, where "happened" may be missing, and must not outweigh the words that do stand there.
    """
    held = np.maximum(frequency, 1.0)
    return np.asarray(np.log1p(np.maximum(units - held + 0.5, 0.5) / (held + 0.5)), dtype=np.float32)


def _clip(values: npt.NDArray[_Float], low: float, high: float) -> npt.NDArray[_Float]:
    """``np.clip``, which takes three times as long for as few values as candidates."""
    clipped: npt.NDArray[_Float] = np.minimum(np.maximum(values, low), high)
    return clipped


def _layer(
    layer: LayerEvidence, weights: FloatArray, query_length: int, b: float, options: ScoringOptions
) -> LayerScores:
    keyword = keyword_part(layer, weights, query_length, b) if options.keyword else _missing(layer)
    semantic = _missing(layer) if options.calibration is None else semantic_part(layer.cosines, options.calibration)
    return LayerScores(keyword, semantic, _mix(keyword, semantic, options.semantic_weight))


def _missing(layer: LayerEvidence) -> FloatArray:
    return np.full(len(layer.lengths), np.nan, dtype=np.float32)


def keyword_part(layer: LayerEvidence, weights: FloatArray, query_length: int, b: float) -> FloatArray:
    """(n,) BM25 of each unit divided by the BM25 of a unit equal to the query; 0 when nothing can match."""
    mean = max(layer.mean_length, 1.0)
    norms = K1 * (1 - b + b * layer.lengths / mean)
    saturated = layer.counts * (K1 + 1)
    saturated /= layer.counts + norms[:, None]
    best = float(weights.sum()) * (K1 + 1) / (1 + K1 * (1 - b + b * query_length / mean))
    if best <= 0:
        return np.zeros(len(layer.lengths), dtype=np.float32)
    share = _clip(saturated @ weights / best, 0, 1)
    # As cosines do, shares of common words have a background: what lies below it counts next to nothing, though its
    # order stays. A parabola up to twice the floor, then a line.
    above = np.where(share < 2 * KEYWORD_FLOOR, share**2 / (4 * KEYWORD_FLOOR), share - KEYWORD_FLOOR)
    return np.asarray(above / (1 - KEYWORD_FLOOR), dtype=np.float32)


def semantic_part(cosines: FloatArray, calibration: Calibration) -> FloatArray:
    """(n,) cosines on the scale from floor to ceiling; NaN stays NaN."""
    span = max(calibration.ceiling - calibration.floor, 1e-6)
    return np.asarray(_clip((cosines - calibration.floor) / span, 0, 1), dtype=np.float32)


def _mix(keyword: FloatArray, semantic: FloatArray, semantic_weight: float) -> FloatArray:
    """Weighted mean of two parts; where one is NaN, the other alone; where both are, 0."""
    mixed = (1 - semantic_weight) * keyword + semantic_weight * semantic
    if np.isnan(mixed).any():
        mixed = np.where(np.isnan(semantic), keyword, np.where(np.isnan(keyword), semantic, mixed))
        mixed = np.nan_to_num(mixed, nan=0.0)
    return np.asarray(mixed, dtype=np.float32)


def speaker_match(evidence: Evidence, terms: Sequence[Term]) -> FloatArray:
    """(n,) 1 where the query names the speaker of the turn, 0 where it does not; less where it names another better.

    Each word of the query may be one of a name. Of "what did Mara Lind say" Mara Lind holds two words and Jonas Lind
    one, which is worth half. A word that is common, and mostly stands elsewhere than in front of what its bearer said
    (the "the" of "The Doctor"), names nobody.
    """
    exact = {term.text: i for i, term in enumerate(terms) if term.kind is TermKind.EXACT}
    frequency = evidence.chunk_frequency
    common = max(COMMON_CHUNKS, evidence.chunk_count * COMMON_SHARE)
    columns = []
    for word, plain in exact.items():
        named = exact.get(speaker_form(word))
        if named is None or not frequency[named]:
            continue
        if frequency[plain] <= common or 2 * frequency[named] >= frequency[plain]:
            columns.append(named)
    if not columns:
        return np.zeros(len(evidence.chunks), dtype=np.float32)
    held = (evidence.detail.counts[:, columns] > 0).sum(axis=1)
    return np.asarray(held / max(held.max(initial=0), 1), dtype=np.float32)


def _holds_any(evidence: Evidence, columns: Sequence[int]) -> FloatArray:
    """(n,) 1 where the chunk itself holds any of some terms, else 0."""
    if not columns:
        return np.zeros(len(evidence.chunks), dtype=np.float32)
    return np.asarray((evidence.detail.counts[:, columns] > 0).any(axis=1), dtype=np.float32)
