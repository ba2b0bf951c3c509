"""Card records, query terms and small vectors for tests of indexes, each made in one line."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from cogvault.protocols import Index, Snapshot
from cogvault.text.tokens import grams, stem, words
from cogvault.types import (
    Card,
    CardRecord,
    ChangeSet,
    Chunk,
    ChunkKind,
    Filter,
    FloatArray,
    IndexIdentity,
    Ranking,
    Stamp,
    Term,
    TermKind,
    VectorBatch,
)

DAY = datetime(2024, 1, 1, tzinfo=UTC)
MODEL = "model-1"
DIM = 8
ALL = Filter()


def record(
    id: str,
    *texts: str,
    day: int = 0,
    abstract: str = "",
    overview: str = "",
    layers_hash: str = "",
    **fields: Any,
) -> CardRecord:
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
        hashlib.sha256(f"{id}{body}".encode(errors="surrogatepass")).hexdigest(),
        abstract,
        overview,
        layers_hash,
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


def vectors(count: int, dim: int = DIM, seed: int = 0) -> FloatArray:
    """(count, dim) random unit vectors."""
    made = np.random.default_rng(seed).normal(size=(count, dim))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def vector_of(text: str, dim: int = DIM) -> FloatArray:
    """(dim,) the unit vector of a text, the same in every process."""
    seed = int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:8], "little")
    row: FloatArray = vectors(1, dim, seed)[0]
    return row


def embedded(index: Index, model: str = MODEL, dim: int = DIM) -> None:
    """Give every chunk that has none the vector of its text."""
    while waiting := index.snapshot().pending(model, 100):
        rows = np.array([vector_of(stored.chunk.embed_text, dim) for stored in waiting])
        chunks = np.array([stored.id for stored in waiting], np.int64)
        index.apply(ChangeSet(vectors=VectorBatch(model, chunks, rows)))


def identity(model: str = MODEL, dim: int = DIM) -> IndexIdentity:
    """An identity with this model."""
    return IndexIdentity("chunking-1", model, model, dim)


def found(ranking: Ranking) -> list[int]:
    """Chunk ids of a ranking."""
    return [int(chunk) for chunk in ranking.chunks]


def found_chunks(snapshot: Snapshot, ranking: Ranking) -> list[tuple[str, int]]:
    """Card and position of each chunk of a ranking."""
    return [(stored.card, stored.chunk.position) for stored in snapshot.chunks(found(ranking))]


def found_cards(snapshot: Snapshot, ranking: Ranking) -> list[str]:
    """Cards of a ranking, each once."""
    return list(dict.fromkeys(card for card, _ in found_chunks(snapshot, ranking)))
