"""Floor and ceiling of a model on one vault: what cosine means "unrelated" here.

Unrelated texts of one vault, in one language, are nearer to each other than texts of the world at large, so the floor
is measured: the openings of some chunks serve as queries against chunks of other cards. The sample is the cards with
the smallest content hashes, so it is a function of the files alone and seldom changes.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np

from cogvault.errors import ModelError
from cogvault.protocols import Embedder, Snapshot
from cogvault.retrieval.sample import Sampler
from cogvault.retrieval.scoring import Calibration
from cogvault.text.tokens import words
from cogvault.types import CardInfo, IntArray

logger = logging.getLogger(__name__)

QUERIES = 24
QUERY_CHARS = 80
# The measured background counts as much as the model's prior at this many background chunks.
PRIOR_CHUNKS = 192
# Models whose ceiling is not known: this share of the way from the floor to 1 (e5-small: 0.75 to 0.95).
CEILING_SHARE = 0.8
# Real answers start a little above the mean of the background.
FLOOR_MARGIN = 0.02


def calibrate(floor: float | None, embedder: Embedder) -> Calibration:
    """Calibration from a measured floor, else from the model's own known values."""
    low = floor if floor is not None else embedder.floor
    low = 0.0 if low is None else low
    high = embedder.ceiling
    if high is None or high <= low:
        high = low + CEILING_SHARE * (1 - low)
    return Calibration(low, high)


def changed_floor(snapshot: Snapshot, sampler: Sampler, embedder: Embedder | None) -> tuple[float | None, str] | None:
    """The model's floor and the name of the sample that it was measured on.

    Args:
        snapshot: of a vault.
        sampler: chooses among its cards.
        embedder: None = there is none.

    Returns:
        None when the vault's floor holds, or cannot be measured now.
    """
    stats = snapshot.stats
    try:
        if embedder is None or stats.identity.model != embedder.fingerprint or stats.vectors < stats.embeddable:
            return None
        sample, name = sampler.of(snapshot.cards)
        return None if name == stats.identity.measured else (measure_floor(snapshot, sample, embedder), name)
    except ModelError as error:
        logger.warning("floor not measured: %s", error)
        return None


def measure_floor(snapshot: Snapshot, cards: Sequence[CardInfo], embedder: Embedder) -> float | None:
    """Mean cosine of pseudo-queries and chunks of other cards, drawn toward the model's prior in small vaults.

    Args:
        snapshot: holds vectors of this embedder.
        cards: the sample, as given by a ``Sampler``.
        embedder: makes the query vectors.

    Returns:
        None when there is nothing to measure and no prior.

    Raises:
        ModelError: the model failed.
    """
    ids: list[int] = []
    openings: list[str] = []
    for card in cards:
        # The chunk in the middle: the first may be the same greeting or header in every card.
        chunks = snapshot.of_card(card.id)[1:]
        middle = chunks[len(chunks) // 2]
        ids.append(middle.id)
        openings.append(middle.chunk.text[:QUERY_CHARS])
    queries = [place for place, text in enumerate(openings) if words(text)][:QUERIES]
    if len(ids) < 2 or not queries:
        return embedder.floor
    chunks_ids: IntArray = np.array(ids, dtype=np.int64)
    order = np.argsort(chunks_ids)
    found: list[float] = []
    for place in queries:
        evidence = snapshot.evidence(chunks_ids[order], (), embedder.embed_query(openings[place]), 0)
        cosines = np.delete(evidence.detail.cosines, int(np.flatnonzero(order == place)[0]))
        found.extend(cosines[~np.isnan(cosines)].tolist())
    if not found:
        return embedder.floor
    # Exact, as the order is that in which the cards came.
    background = math.fsum(found) / len(found) + FLOOR_MARGIN
    prior = embedder.floor
    if prior is None:
        return background
    return (background * len(ids) + prior * PRIOR_CHUNKS) / (len(ids) + PRIOR_CHUNKS)
