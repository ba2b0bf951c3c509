"""A cache of document vectors around any embedder, shared by all processes of a machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from cogvault.embedders.kept_vectors import KeptVectors, keys_of
from cogvault.embedders.vector_store import DEFAULT_MAX_BYTES, VectorStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cogvault.protocols import Embedder
    from cogvault.types import FloatArray

_NORM_TOLERANCE: Final = 1e-3


class CachedEmbedder:
    """Embeds a text once per model and machine.

    Vectors are kept as they came (float32), so a hit and a miss give the same bits. Queries are not
    cached: they are cheap, and what people ask is nobody's business. The cache is an optimization and
    nothing else: one that cannot be opened, read or written is worked around with a logged warning.

    Safe for use from many threads and processes; two that embed the same text at the same time do
    the work twice.

    Args:
        inner: The embedder that does the work.
        path: The cache's SQLite file, made when absent; one file serves any number of models.
        max_bytes: Size at which the least recently used vectors are dropped.
    """

    __slots__ = ("_inner", "_store", "_used")

    def __init__(self, inner: Embedder, path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._inner = inner
        self._store = VectorStore(path, max_bytes)
        self._used: float | None = None

    @property
    def idle_seconds(self) -> float | None:
        """Time since the inner embedder last worked, None = it never did, so that it holds no model in memory."""
        return None if self._used is None else time.monotonic() - self._used

    @property
    def inner(self) -> Embedder:
        """The embedder that does the work."""
        return self._inner

    @property
    def kept(self) -> KeptVectors:
        """The cache, for those who move and delete cards."""
        return KeptVectors(self._store)

    @property
    def name(self) -> str:
        """The inner embedder's name."""
        return self._inner.name

    @property
    def floor(self) -> float | None:
        """The inner embedder's background cosine."""
        return self._inner.floor

    @property
    def ceiling(self) -> float | None:
        """The inner embedder's ceiling cosine."""
        return self._inner.ceiling

    @property
    def fingerprint(self) -> str:
        """The inner embedder's fingerprint: caching does not shape vectors."""
        return self._inner.fingerprint

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self._inner.dim

    @property
    def max_tokens(self) -> int:
        """The inner model's window in tokens."""
        return self._inner.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the inner model's tokens."""
        return self._inner.count_tokens(texts)

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query, uncached: shape (dim,), float32, L2-normalized."""
        self._used = time.monotonic()
        return self._inner.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts, each distinct one at most once.

        Args:
            texts: n texts; a blank one gives a row of zeros.

        Returns:
            Array of shape (n, dim), float32, rows L2-normalized.

        Raises:
            ModelUnavailable: As the inner embedder.
            ModelError: As the inner embedder.
        """
        keys = keys_of(self._inner.fingerprint, texts)
        distinct = {key: text for key, text in zip(keys, texts, strict=True) if text.strip()}
        found = {
            key: vector
            for key, blob in self._store.get(list(distinct)).items()
            if (vector := self._sound(blob)) is not None
        }
        missing = [key for key in distinct if key not in found]
        if missing:
            self._used = time.monotonic()
            vectors = self._inner.embed_documents([distinct[key] for key in missing])
            found.update(zip(missing, vectors, strict=True))
            self._store.put(
                [(key, vector.astype("<f4").tobytes()) for key, vector in zip(missing, vectors, strict=True)]
            )
        rows = np.zeros((len(texts), self._inner.dim), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            vector = found.get(key)
            if vector is not None:
                row[:] = vector
        return rows

    def _sound(self, blob: bytes) -> FloatArray | None:
        """The vector in a blob, None when it is not one of this model: embedded again, then."""
        if len(blob) != 4 * self._inner.dim:
            return None
        vector: FloatArray = np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)
        return vector if abs(float(vector @ vector) - 1.0) < _NORM_TOLERANCE else None
