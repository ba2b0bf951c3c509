"""Card records for tests, made in one line each, and small vectors."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from cogvault.text.tokens import grams, stem, words
from cogvault.types import Card, CardRecord, Chunk, ChunkKind, FloatArray, Stamp, Term, TermKind

DAY = datetime(2024, 1, 1, tzinfo=UTC)


def record(id: str, *texts: str, day: int = 0, abstract: str = "", overview: str = "", **fields: Any) -> CardRecord:
    """A card with one body chunk for each text. ``day``: its date, counted from ``DAY``."""
    fields.setdefault("title", id.removesuffix(".md"))
    fields.setdefault("dated", DAY + timedelta(days=day))
    body = "\n\n".join(texts)
    head = Chunk(0, ChunkKind.HEAD, fields["title"], fields["title"], fields["title"], 1, 1)
    chunks = [
        Chunk(
            place,
            ChunkKind.TURN if text.startswith("**") else ChunkKind.TEXT,
            text,
            f"{fields['title']}\n{text}",
            text,
            place,
            place,
            heading=(fields["title"],),
            speaker="Ana" if text.startswith("**") else None,
            at=DAY if text.startswith("**") else None,
        )
        for place, text in enumerate(texts, start=1)
    ]
    return CardRecord(
        Card(id=id, path=id, body=body, **fields),
        (head, *chunks),
        stamp(len(body)),
        hashlib.sha256(f"{id}{body}".encode()).hexdigest(),
        abstract,
        overview,
    )


def stamp(number: int) -> Stamp:
    """A stamp that differs for each number."""
    return Stamp(number, 1_700_000_000_000_000_000 + number, number + 1, number + 2)


def terms(text: str) -> tuple[Term, ...]:
    """All terms of a query, with the usual weights."""
    found: dict[tuple[TermKind, str], float] = {}
    for word in words(text):
        found[TermKind.EXACT, word] = 1.0
        found[TermKind.STEM, stem(word)] = 1.0
        for gram in grams(word):
            found[TermKind.GRAM, gram] = 0.25
    return tuple(Term(kind, form, weight) for (kind, form), weight in found.items())


def vectors(count: int, dim: int = 8, seed: int = 0) -> FloatArray:
    """(count, dim) random unit vectors."""
    made = np.random.default_rng(seed).normal(size=(count, dim))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def vector_of(text: str, dim: int = 8) -> FloatArray:
    """(dim,) the unit vector of a text, the same in every process."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return vectors(1, dim, seed)[0]


def ids(ranking: Any) -> list[int]:
    """Chunk ids of a ranking."""
    return [int(chunk) for chunk in ranking.chunks]
