"""A small world to search in: cards through the real parser and chunker, an index, and a searcher over it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from cogvault.cards import MarkdownCardParser
from cogvault.embedders import HashingEmbedder
from cogvault.indexes.memory import MemoryIndex
from cogvault.indexing.chunker import chunker_for
from cogvault.protocols import Embedder, Index, Ranker, Snapshot
from cogvault.rankers import KeywordRanker, SemanticRanker, TitleRanker
from cogvault.retrieval.calibration import calibrate
from cogvault.retrieval.hits import Hits
from cogvault.retrieval.request import SearchRequest, build_filter
from cogvault.retrieval.scoring import Calibration
from cogvault.retrieval.search import Searcher, SearchOptions
from cogvault.types import CardRecord, ChangeSet, FloatArray, IndexIdentity, Stamp, VectorBatch
from tests.retrieval.values import NOW

_REQUEST = {"k", "min_score", "budget_tokens", "layer", "explain", "now"}


def record(id: str, text: str, modified: datetime = NOW) -> CardRecord:
    """A card file as the index takes it."""
    data = text.encode()
    card = MarkdownCardParser().parse(data, id=id, path=id)
    chunks = tuple(chunker_for(None, 200).chunk(card))
    stamp = Stamp(len(data), int(modified.timestamp()) * 10**9, 0)
    digest = hashlib.sha256(data).hexdigest()
    return CardRecord(card, chunks, stamp, digest, f"Abstract of {card.title}.", f"Overview of {card.title}. " * 8)


def rankers(*names: str) -> dict[str, Ranker]:
    """Rankers by name; none named = all."""
    known: dict[str, Ranker] = {"keyword": KeywordRanker(), "semantic": SemanticRanker(), "title": TitleRanker()}
    return {name: known[name] for name in names or known}


def fixed(snapshot: Snapshot, embedder: Embedder) -> Calibration:
    """The model's own floor and ceiling."""
    return calibrate(None, embedder)


@dataclass
class World:
    """An index and how it is searched. ``embedder=None`` is a machine without a model."""

    files: Mapping[str, str]
    embedder: Embedder | None = field(default_factory=HashingEmbedder)
    options: SearchOptions = field(default_factory=SearchOptions)
    rankers: Mapping[str, Ranker] = field(default_factory=rankers)
    modified: datetime = NOW
    index: Index = field(default_factory=MemoryIndex)

    def __post_init__(self) -> None:
        self.put(self.files)
        if self.embedder is not None:
            self.embed(self.embedder)

    def put(self, files: Mapping[str, str]) -> None:
        """Add or replace cards."""
        self.index.apply(ChangeSet(put=tuple(record(id, text, self.modified) for id, text in files.items())))

    def embed(self, embedder: Embedder, limit: int = 10_000) -> None:
        """Make the vectors that are missing, at most so many."""
        identity = IndexIdentity("test", embedder.fingerprint, embedder.name, embedder.dim)
        self.index.apply(ChangeSet(identity=identity))
        pending = self.index.snapshot().pending(embedder.fingerprint, limit)
        if pending:
            vectors = embedder.embed_documents([item.chunk.embed_text for item in pending])
            ids = np.array([item.id for item in pending], np.int64)
            self.index.apply(ChangeSet(vectors=VectorBatch(embedder.fingerprint, ids, vectors)))

    @cached_property
    def searcher(self) -> Searcher:
        """A searcher with the options of this world, kept from one question to the next."""
        return Searcher(self.rankers, lambda _: self.embedder, self.options, fixed)

    def search(self, text: str, **arguments: Any) -> Hits:
        """Ask. Arguments are those of a request or of a filter."""
        asked = {"k": 5, "now": NOW, **{key: arguments.pop(key) for key in [*arguments] if key in _REQUEST}}
        hits, _ = self.searcher.search(self.index, SearchRequest(text, filter=build_filter(**arguments), **asked))
        return hits

    def ids(self, text: str, **arguments: Any) -> list[str]:
        """Ids of the hits."""
        return [hit.id for hit in self.search(text, **arguments)]

    def with_options(self, **options: Any) -> World:
        """The same index, searched with other options."""
        return replace(self, files={}, options=replace(self.options, **options))


@dataclass
class BrokenEmbedder:
    """A model whose queries fail as they are told to; its fingerprint is that of a working one."""

    error: Exception
    inner: HashingEmbedder = field(default_factory=HashingEmbedder)
    calls: int = 0

    name = "hashing"
    max_tokens = 512
    floor = 0.1
    ceiling = 0.5

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    @property
    def dim(self) -> int:
        return self.inner.dim

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        return self.inner.embed_documents(texts)

    def embed_query(self, text: str) -> FloatArray:
        self.calls += 1
        raise self.error


class Interrupted:
    """An index whose first snapshots expire while they are read."""

    def __init__(self, inner: Index, times: int, expire: Callable[[Snapshot], Snapshot]) -> None:
        self._inner = inner
        self._left = times
        self._expire = expire
        self.taken = 0

    def apply(self, change: ChangeSet) -> int:
        return self._inner.apply(change)

    def snapshot(self) -> Snapshot:
        self.taken += 1
        snapshot = self._inner.snapshot()
        if self._left == 0:
            return snapshot
        self._left -= 1
        return self._expire(snapshot)

    def verify(self) -> list[str]:
        return self._inner.verify()

    def repair(self, progress: Callable[[int, int], None]) -> None:
        self._inner.repair(progress)

    def reset(self, fault: str) -> None:
        self._inner.reset(fault)

    def close(self) -> None:
        self._inner.close()
