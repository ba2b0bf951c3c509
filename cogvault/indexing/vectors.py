"""Chunks to vectors: in batches, each kept as soon as it is made, the newest cards first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cogvault.embedders.cached import CachedEmbedder
from cogvault.errors import ModelError, ModelUnavailable, SnapshotExpired
from cogvault.protocols import Embedder, Index
from cogvault.types import ChangeSet, FloatArray, Problem, StoredChunk, VectorBatch

__all__ = ["EMBEDDING_FAILED", "Embedded", "embed_pending"]

EMBEDDING_FAILED = "embedding-failed"  # code of the problem of a chunk

_PROBE = "probe"
_SNAPSHOT_TRIES = 5
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Embedded:
    """What became of the pending chunks.

    Attributes:
        count: chunks that got a vector.
        failed: chunks that the model could not embed.
        error: why embedding stopped before the end, None = it did not.
        is_complete: True when every chunk was tried: nothing is pending but what failed.
    """

    count: int = 0
    failed: list[Problem] = field(default_factory=list)
    error: ModelError | None = None
    is_complete: bool = False


def embed_pending(
    index: Index, embedder: Embedder, batch: int, limit: int | None, kept: Callable[[Embedded], None]
) -> Embedded:
    """Give every chunk that has no vector of this model one.

    A chunk that the model cannot embed is left out, so that the others go on; it is pending for the next sync.

    Args:
        index: takes the vectors.
        embedder: not touched but for its fingerprint while nothing is pending.
        batch: chunks a commit.
        limit: chunks at most, None = all.
        kept: called after each commit.
    """
    outcome = Embedded()
    left_out: set[int] = set()
    try:
        while room := batch if limit is None else min(batch, limit - outcome.count):
            chunks = _pending(index, embedder.fingerprint, room, left_out)
            if not chunks:
                outcome.is_complete = True
                break
            if isinstance(embedder, CachedEmbedder):
                embedder.kept.own(embedder.fingerprint, ((chunk.card, chunk.chunk.embed_text) for chunk in chunks))
            made: list[tuple[int, FloatArray]] = []
            for chunk, result in _embed(embedder, chunks):
                if isinstance(result, str):
                    left_out.add(chunk.id)
                    outcome.failed.append(_problem(chunk, result))
                else:
                    made.append((chunk.id, result))
            if made:
                ids = np.array([id for id, _ in made], dtype=np.int64)
                rows = np.stack([row for _, row in made])
                index.apply(ChangeSet(vectors=VectorBatch(embedder.fingerprint, ids, rows)))
                outcome.count += len(made)
                kept(outcome)
    except ModelError as error:
        _log.warning("embedding stopped: %s", error)
        outcome.error = error
    return outcome


def _pending(index: Index, model: str, batch: int, left_out: set[int]) -> list[StoredChunk]:
    for _ in range(_SNAPSHOT_TRIES):
        try:
            chunks = index.snapshot().pending(model, batch + len(left_out))
        except SnapshotExpired as error:  # another process wrote meanwhile
            expired = error
        else:
            return [chunk for chunk in chunks if chunk.id not in left_out][:batch]
    raise expired


def _embed(embedder: Embedder, chunks: Sequence[StoredChunk]) -> Iterator[tuple[StoredChunk, FloatArray | str]]:
    """Each chunk with its vector, or with the reason why it has none. Equal texts are embedded once.

    Raises:
        ModelError: the model does not work at all.
    """
    texts = list(dict.fromkeys(chunk.chunk.embed_text for chunk in chunks))
    try:
        rows: list[FloatArray | str] = list(_rows(embedder, texts))
    except ModelUnavailable:
        raise
    except Exception:  # a model's own code may raise anything; the probe tells a bad text from a bad model
        _probe(embedder)
        rows = _one_by_one(embedder, texts)
    by_text = dict(zip(texts, rows, strict=True))
    for chunk in chunks:
        row = by_text[chunk.chunk.embed_text]
        yield chunk, row if isinstance(row, str) or np.isfinite(row).all() else "the model gave no finite numbers"


def _rows(embedder: Embedder, texts: list[str]) -> FloatArray:
    rows = embedder.embed_documents(texts)
    if rows.shape != (len(texts), embedder.dim):
        raise ModelError(f"the model {embedder.name} gave an array of shape {rows.shape} for {len(texts)} texts")
    return rows


def _probe(embedder: Embedder) -> None:
    try:
        _rows(embedder, [_PROBE])
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"the model {embedder.name} does not work: {error!r}") from error


def _one_by_one(embedder: Embedder, texts: list[str]) -> list[FloatArray | str]:
    """Halve until the texts that fail stand alone."""
    try:
        return list(_rows(embedder, texts))
    except ModelUnavailable:
        raise
    except Exception as error:
        if len(texts) == 1:
            return [str(error) or repr(error)]
    middle = len(texts) // 2
    return _one_by_one(embedder, texts[:middle]) + _one_by_one(embedder, texts[middle:])


def _problem(chunk: StoredChunk, reason: str) -> Problem:
    return Problem(chunk.card, EMBEDDING_FAILED, f"no vector: {reason}", line=chunk.chunk.start_line)
