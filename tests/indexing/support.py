"""A vault folder with a syncer that is easy to run, and what an index holds as comparable values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from cogvault.cards import MarkdownCardParser
from cogvault.embedders import HashingEmbedder
from cogvault.embedders.kept_vectors import KeptVectors
from cogvault.errors import ModelUnavailable
from cogvault.indexes.memory import MemoryIndex
from cogvault.indexing.chunker import Chunker
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.report import Progress, SyncReport
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.sync import Syncer
from cogvault.layers.folder_store import FolderStore
from cogvault.protocols import CardParser, Embedder, Index, Summarizer
from cogvault.text.queries import query_terms
from cogvault.types import Card, ChangeSet, Chunk, ChunkKind, Filter, FloatArray, Stamp

QUERIES = ("alpha", "beta gamma", "note", "shared words")


def later_ns() -> int:
    """A clock an hour ahead: every stamp can be trusted."""
    return time.time_ns() + 3_600_000_000_000


def paragraphs(card: Card) -> Sequence[Chunk]:
    """A chunk for each paragraph, after the head."""
    head = Chunk(0, ChunkKind.HEAD, card.title, card.title, card.title, 1, 1)
    chunks = [head]
    line = card.body_line
    for text in card.body.split("\n\n"):
        if text.strip():
            chunks.append(Chunk(len(chunks), ChunkKind.TEXT, text, text, text.strip(), line, line))
        line += text.count("\n") + 2
    return chunks


PARAGRAPHS = Chunker("paragraphs-1", "any", paragraphs)


class SpyEmbedder:
    """Counts what it embeds; can be told to fail on some texts, or altogether. ``fingerprint`` is never a load."""

    floor = 0.1
    ceiling = 0.5
    max_tokens = 512

    def __init__(self, name: str = "spy", dim: int = 16) -> None:
        self._inner = HashingEmbedder(dim, seed=len(name))
        self.name = name
        self.dim = dim
        self.fingerprint = f"{name}/{dim}"
        self.texts: list[str] = []
        self.calls = 0
        self.poison: set[str] = set()
        self.error: Exception | None = None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        self.calls += 1
        if self.error is not None:
            raise self.error
        if self.poison.intersection(texts):
            raise RuntimeError("this text is poison")
        self.texts += texts
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> FloatArray:
        return self._inner.embed_query(text)


@dataclass
class Desk:
    """A vault, an index and everything a sync needs; fields may be exchanged between syncs."""

    root: Path
    index: Index = field(default_factory=MemoryIndex)
    parser: CardParser = field(default_factory=MarkdownCardParser)
    chunker: Chunker | None = PARAGRAPHS
    embedder: Embedder | None = None
    scan: ScanOptions = field(default_factory=ScanOptions)
    max_card_bytes: int = 4 << 20
    card_batch: int = 500
    vector_batch: int = 256
    keyword_only: bool = False
    summarizer: Summarizer | None = None
    folders: FolderStore | None = None
    kept: KeptVectors | None = None
    now_ns: Callable[[], int] = later_ns

    @property
    def lock_folder(self) -> Path:
        folder = self.root.with_name("locks")
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def syncer(self) -> Syncer:
        options = SyncOptions(
            self.lock_folder,
            self.scan,
            max_card_bytes=self.max_card_bytes,
            lock_timeout_seconds=30.0,
            card_batch=self.card_batch,
            vector_batch=self.vector_batch,
            keyword_only=self.keyword_only,
        )
        return Syncer(
            self.root,
            self.index,
            self.parser,
            self.embedder,
            options,
            chunker=self.chunker,
            summarizer=self.summarizer,
            folders=self.folders,
            kept=self.kept,
            now_ns=self.now_ns,
        )

    def sync(
        self,
        *,
        verify: bool = False,
        progress: Progress | None = None,
        embed_limit: int | None = None,
        paths: Sequence[Path | str] | None = None,
        timeout_seconds: float | None = None,
    ) -> SyncReport:
        return self.syncer.sync(
            verify=verify,
            progress=progress,
            embed_limit=embed_limit,
            paths=paths,
            timeout_seconds=timeout_seconds,
        )

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def restamp(self, id: str, stamp: Stamp) -> None:
        self.index.apply(ChangeSet(restamp={id: stamp}))

    @property
    def ids(self) -> list[str]:
        return [card.id for card in self.index.snapshot().cards]


def unavailable() -> ModelUnavailable:
    return ModelUnavailable("no such model here", hint="install it")


def content(index: Index, embedder: Embedder | None = None) -> dict[str, object]:
    """All an index says, without what differs between equal ones: chunk ids, sequence, inodes, change times."""
    snapshot = index.snapshot()
    stats = snapshot.stats
    names: dict[int, tuple[str, int]] = {}
    chunks: dict[str, list[Chunk]] = {}
    for card in snapshot.cards:
        stored = snapshot.of_card(card.id)
        names.update((item.id, (card.id, item.chunk.position)) for item in stored)
        chunks[card.id] = [item.chunk for item in stored]
    rankings: dict[str, object] = {}
    for text in QUERIES:
        ranking = snapshot.keyword(query_terms(text), Filter(), 1000)
        rankings[text] = [names[id] for id in ranking.chunks.tolist()], np.round(ranking.scores, 4).tolist()
        if embedder is not None:
            near = snapshot.semantic(embedder.embed_query(text), Filter(), 1000)
            rankings[f"~{text}"] = dict(
                zip((names[id] for id in near.chunks.tolist()), np.round(near.scores, 3).tolist(), strict=True)
            )
    return {
        "cards": [replace(card, stamp=replace(card.stamp, inode=0, ctime_ns=0)) for card in snapshot.cards],
        "chunks": chunks,
        "rankings": rankings,
        "identity": stats.identity if stats.vectors else stats.identity.chunking,
        "vectors": stats.vectors,
    }
