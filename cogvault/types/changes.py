"""What is put into an index, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cogvault.types.cards import CardRecord, Chunk, Stamp

if TYPE_CHECKING:
    from cogvault.types.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What shaped an index. A different ``chunking`` rebuilds all, a different ``model`` the vectors.

    Attributes:
        chunking: fingerprint of parser, chunker, analyzer and schema versions and of the options that shape chunks.
        model: fingerprint of the embedder whose vectors serve now, "" = none yet.
        model_name: what a user would write to select that model, "" = none yet.
        dim: width of its vectors, 0 = none yet.
        floor: cosine of unrelated texts of this vault, measured with that model; None = not measured.
        measured: names the texts that ``floor`` was measured on, so that it is measured again only when they change.
    """

    chunking: str = ""
    model: str = ""
    model_name: str = ""
    dim: int = 0
    floor: float | None = None
    measured: str = ""


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Vectors of some chunks, made by one model.

    Attributes:
        model: the embedder's fingerprint.
        chunks: (n,) chunk ids, as given by ``Snapshot.pending``.
        vectors: (n, dim) float32, unit length.
    """

    model: str
    chunks: IntArray
    vectors: FloatArray


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One atomic change of an index. Order of effect: remove, put, restamp, identity, vectors.

    Attributes:
        put: cards to add or replace, by id. A chunk whose ``embed_text`` the card's old version (or any card removed or
            replaced by the same change) had keeps its vector, so that only changed chunks are embedded again.
        remove: ids to delete; unknown ids are ignored.
        restamp: new stamps of cards whose content did not change.
        identity: replaces the index's identity. A new ``model`` makes that model's vectors serve and drops all others.
        vectors: rows for chunks; rows of chunks that are gone meanwhile are dropped.
    """

    put: tuple[CardRecord, ...] = ()
    remove: tuple[str, ...] = ()
    restamp: Mapping[str, Stamp] = field(default_factory=dict)
    identity: IndexIdentity | None = None
    vectors: VectorBatch | None = None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as an index gives it back. ``id`` is never reused for other text."""

    id: int
    card: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class CardLayers:
    """What a card says of itself in fewer words: L0 and L1 (``CardRecord.abstract`` and ``.overview``).

    Attributes:
        abstract: L0.
        overview: L1.
        hash: of all of the card that they were made from (``CardRecord.layers_hash``).
    """

    abstract: str
    overview: str
    hash: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Size and state of one snapshot.

    Attributes:
        sequence: number of the last change that is part of it.
        vectors: chunks that have a vector of the serving model.
        embeddable: chunks that should have one (``embed_text`` not empty).
        fault: what is damaged, and how answers are found without it until ``Index.repair``; "" = nothing.
    """

    sequence: int
    cards: int
    chunks: int
    vectors: int
    embeddable: int
    identity: IndexIdentity
    bytes_on_disk: int = 0
    notes: tuple[str, ...] = ()
    fault: str = ""
