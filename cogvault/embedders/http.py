"""Any server that speaks OpenAI's embeddings API: OpenAI, Ollama, LM Studio, vLLM, llama.cpp."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cogvault.embedders.http_client import JsonClient, find_api_key, split_server_name
from cogvault.embedders.prefixes import prefixes_for
from cogvault.embedders.vectors import normalize_rows
from cogvault.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cogvault.types import FloatArray

_BATCH_TEXTS: Final = 64
_BATCH_CHARS: Final = 100_000
_PROBE_TEXT: Final = "dimensions"


class OpenAICompatibleEmbedder:
    """A model behind `POST {url}/embeddings`. Nothing is sent before the first use; texts leave the machine.

    The key comes from `COGVAULT_OPENAI_API_KEY`, or from `OPENAI_API_KEY` for api.openai.com only, so that
    no other server is ever sent it. It appears in no message, log or fingerprint.

    Safe for use from many threads.

    Args:
        name: `openai:MODEL@URL`, the URL being the API's base, such as `http://localhost:11434/v1`.
        max_tokens: The model's window; the API does not tell it.
        timeout_seconds: Of one request.
        sleep: Waits between attempts.

    Raises:
        ConfigError: If the name is not of that form.
    """

    floor: Final[float | None] = None
    ceiling: Final[float | None] = None

    __slots__ = ("_client", "_dim", "_max_tokens", "_model", "_prefixes", "_url", "name")

    def __init__(
        self,
        name: str,
        *,
        max_tokens: int = 512,
        timeout_seconds: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self._model, url = split_server_name(name, "model", "nomic-embed-text")
        self._url = url.rstrip("/").removesuffix("/embeddings")
        self._max_tokens = max_tokens
        self._prefixes = prefixes_for(self._model)
        self._client = JsonClient(f"{self._url}/embeddings", find_api_key(self._url), timeout_seconds, sleep)
        self._dim: int | None = None

    @property
    def fingerprint(self) -> str:
        """Text naming the model, the server and the prefixes. Sends nothing, so it cannot name the width."""
        return f"openai:{self._model}@{self._url}:prefixes={'/'.join(self._prefixes)!r}:normalized"

    @property
    def dim(self) -> int:
        """Width of the vectors, learned from the server's first answer.

        Raises:
            ModelUnavailable: If the server cannot be reached or knows no such model.
            ModelError: If it answers nonsense.
        """
        if self._dim is None:
            self._embed([_PROBE_TEXT])
        return self._dim or 0

    @property
    def max_tokens(self) -> int:
        """The model's window in tokens, as given."""
        return self._max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate, since the API does not count: four ASCII characters a token, one of any other."""
        counts = []
        for text in texts:
            ascii_chars = len(text.encode("ascii", "ignore"))
            counts.append((ascii_chars + 3) // 4 + len(text) - ascii_chars)
        return counts

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts in batches.

        Args:
            texts: n texts; a blank one is not sent and gives a row of zeros.

        Returns:
            Array of shape (n, dim), float32, rows L2-normalized.

        Raises:
            ModelUnavailable: If the server cannot be reached or knows no such model.
            ModelError: If it answers nonsense.
        """
        written = [index for index, text in enumerate(texts) if text.strip()]
        batches = list(_batches(texts, written))
        parts = [self._embed([self._prefixes.document + texts[index] for index in batch]) for batch in batches]
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for batch, part in zip(batches, parts, strict=True):
            rows[batch] = part
        return rows

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query: shape (dim,), float32, L2-normalized; zeros when blank. Raises as `embed_documents`."""
        if not text.strip():
            return np.zeros(self.dim, dtype=np.float32)
        vector: FloatArray = self._embed([self._prefixes.query + text])[0]
        return vector

    def _embed(self, texts: list[str]) -> FloatArray:
        rows = self._request(texts)
        if self._dim is None:
            self._dim = rows.shape[1]  # two threads may both set it, to the same
        if rows.shape[1] != self._dim:
            msg = f"the model {self._model!r} now gives {rows.shape[1]} numbers a vector instead of {self._dim}"
            raise ModelError(msg, path=self._url, hint="the server changed the model: restart, and let it embed anew")
        return normalize_rows(rows)

    def _request(self, texts: list[str]) -> FloatArray:
        answer = self._client.post({"model": self._model, "input": texts})
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            rows: FloatArray = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise self._nonsense(f"{type(error).__name__}: {error}", answer) from error
        if rows.ndim != 2 or rows.shape[0] != len(texts) or rows.shape[1] == 0 or not np.isfinite(rows).all():
            raise self._nonsense(f"vectors of shape {rows.shape} for {len(texts)} texts", answer)
        return rows

    def _nonsense(self, why: str, answer: Any) -> ModelError:
        keys = sorted(answer) if isinstance(answer, dict) else type(answer).__name__
        msg = f"the server's answer is no list of embeddings ({why}; it holds {keys})"
        return ModelError(msg, path=self._url, hint="is this an OpenAI-compatible base URL, ending in /v1?")


def _batches(texts: Sequence[str], indexes: list[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    chars = 0
    for index in indexes:
        if batch and (len(batch) == _BATCH_TEXTS or chars + len(texts[index]) > _BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(index)
        chars += len(texts[index])
    if batch:
        yield batch
