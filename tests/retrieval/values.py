"""Small values that tests of retrieval share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cogvault.retrieval.hits import Hit
from cogvault.types import CardInfo, Evidence, FloatArray, LayerEvidence, Stamp

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def card(id: str = "a.md", *, dated: datetime = NOW, **fields: Any) -> CardInfo:
    """A card as an index knows it."""
    fields = {"title": id.removesuffix(".md"), **fields}
    return CardInfo(id=id, path=id, dated=dated, stamp=Stamp(1, 0, 0), hash=id, **fields)


def hit(**fields: Any) -> Hit:
    """A hit; fields may be exchanged."""
    known: dict[str, Any] = {
        "id": "notes/a.md",
        "file": "notes/a.md",
        "uri": "cogvault://resources/notes/a.md",
        "title": "A",
        "type": "project",
        "tags": ("one", "two"),
        "score": 0.5,
        "confidence": "high",
        "layer": "L2",
        "text": "text",
        "snippet": "text",
        "lines": (3, 5),
        "heading": ("A", "B"),
        "created": NOW,
        "updated": None,
        "valid": "current",
    }
    return Hit(**{**known, **fields})


def layer(
    counts: Sequence[Sequence[float]], lengths: Sequence[float], mean: float, cosines: Sequence[float]
) -> LayerEvidence:
    """One layer's evidence from plain numbers."""
    rows = len(lengths)
    return LayerEvidence(
        np.array(counts, np.float32).reshape(rows, -1 if rows else 0),
        np.array(lengths, np.float32),
        mean,
        np.array(cosines, np.float32),
    )


def evidence(
    detail: LayerEvidence,
    window: LayerEvidence | None = None,
    card: LayerEvidence | None = None,
    *,
    chunk_frequency: Sequence[float] | None = None,
    card_frequency: Sequence[float] | None = None,
    chunk_count: int = 100,
    card_count: int = 10,
) -> Evidence:
    """Evidence of candidates that are each the first body chunk of a card of their own."""
    rows, terms = detail.counts.shape
    ones: FloatArray = np.ones(terms, np.float32)
    return Evidence(
        chunks=np.arange(1, rows + 1),
        cards=np.arange(rows),
        positions=np.ones(rows, np.int64),
        detail=detail,
        window=window or detail,
        card=card or detail,
        chunk_frequency=ones if chunk_frequency is None else np.array(chunk_frequency, np.float32),
        card_frequency=ones if card_frequency is None else np.array(card_frequency, np.float32),
        chunk_count=chunk_count,
        card_count=card_count,
    )
