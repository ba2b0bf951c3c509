"""The systems that are compared, as configurations of one vault, and a vault whose query vectors are made once."""

from __future__ import annotations

from collections.abc import Sequence

from cogvault import Config
from cogvault.protocols import Embedder
from cogvault.types import FloatArray

# Never look for changed files while questions are timed or counted.
STILL = 1e9


def systems(**common: object) -> dict[str, Config]:
    """``keyword``, ``semantic``, ``rrf`` and ``default``; ``common`` settings go to all."""
    base: dict[str, object] = {"refresh_seconds": STILL, "recursive": True, **common}
    return {
        "keyword": Config.model_validate({**base, "rankers": ("keyword",)}),
        "semantic": Config.model_validate({**base, "rankers": ("semantic",)}),
        "rrf": Config.model_validate({**base, "rankers": ("keyword", "semantic"), "fusion": "rrf"}),
        "default": Config.model_validate(base),
    }


class OnceEmbedder:
    """An embedder that embeds each query once, so that comparing systems does not multiply the work."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._queries: dict[str, FloatArray] = {}
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.dim = inner.dim
        self.max_tokens = inner.max_tokens
        self.floor = inner.floor
        self.ceiling = inner.ceiling

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> FloatArray:
        if text not in self._queries:
            self._queries[text] = self._inner.embed_query(text)
        return self._queries[text]
