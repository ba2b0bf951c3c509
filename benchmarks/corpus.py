"""Made-up cards of ten chunks of about 700 characters, with clustered vectors, for measuring at size."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.words import sentence, sentences
from cogvault.types import Card, CardRecord, Chunk, ChunkKind, FloatArray, Stamp

DIM = 384
CHUNKS_PER_CARD = 10
CHUNK_CHARS = 700
CLUSTERS = 200
BATCH_CARDS = 500
_START = datetime(2024, 1, 1, tzinfo=UTC)


class ClusterEmbedder:
    """Vectors in clusters, as topics make them, without a model. Texts decide only which cluster and which noise.

    Args:
        questions: embedded in advance, so that asking them takes no time here.
    """

    name = "cluster"
    fingerprint = "cluster-1"
    dim = DIM
    max_tokens = 512
    floor = 0.0
    ceiling = 0.9

    def __init__(self, questions: Sequence[str] = ()) -> None:
        self._centers = np.random.default_rng(5).standard_normal((CLUSTERS, DIM)).astype(np.float32)
        self._known: dict[str, FloatArray] = {text: self._of(text) for text in questions}

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        return np.stack([self._of(text) for text in texts])

    def embed_query(self, text: str) -> FloatArray:
        known = self._known.get(text)
        return self._of(text) if known is None else known

    def _of(self, text: str) -> FloatArray:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        (vector,) = self.draw(np.random.default_rng(seed), 1)
        return np.asarray(vector, np.float32)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count, DIM) unit vectors around random centers."""
        rows = self._centers[rng.integers(0, CLUSTERS, count)] + rng.standard_normal((count, DIM)).astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def batches(chunks: int, seed: int = 3) -> Iterator[tuple[tuple[CardRecord, ...], FloatArray]]:
    """Cards in batches, with (n, DIM) vectors of their body chunks."""
    rng = random.Random(seed)
    vectors = np.random.default_rng(seed)
    embedder = ClusterEmbedder()
    cards = chunks // CHUNKS_PER_CARD
    for start in range(0, cards, BATCH_CARDS):
        records = tuple(_record(rng, number) for number in range(start, min(start + BATCH_CARDS, cards)))
        yield records, embedder.draw(vectors, len(records) * CHUNKS_PER_CARD)


def question(rng: random.Random) -> str:
    """A question of 8 to 14 words, as people ask."""
    return sentence(rng, rng.randrange(8, 15)).rstrip(".") + "?"


def _record(rng: random.Random, number: int) -> CardRecord:
    id = f"cards/{number:06}.md"
    title = sentence(rng, 5).rstrip(".")
    texts = [_text(rng) for _ in range(CHUNKS_PER_CARD)]
    head = Chunk(0, ChunkKind.HEAD, title, title, "", 1, 3)
    body = (
        Chunk(place, ChunkKind.TEXT, text, text, text, 4 * place, 4 * place + 2) for place, text in enumerate(texts, 1)
    )
    card = Card(
        id=id,
        path=id,
        title=title,
        body="",
        type=rng.choice(["project", "reference", "feedback", "user"]),
        dated=_START + timedelta(hours=number % 17_000),
    )
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return CardRecord(card, (head, *body), Stamp(len(texts), number, number), digest)


def _text(rng: random.Random) -> str:
    text = " ".join(sentences(rng, 5))
    while len(text) < CHUNK_CHARS:
        text += " " + sentence(rng)
    return text[:CHUNK_CHARS]
