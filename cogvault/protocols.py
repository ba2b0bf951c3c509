"""The seams of cogvault. The docstring of each protocol is its contract; ``cogvault.testing`` checks it.

Every implementation is safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from cogvault.types import (
    Card,
    CardInfo,
    CardLayers,
    ChangeSet,
    Evidence,
    Filter,
    FloatArray,
    IndexStats,
    IntArray,
    KnownFile,
    Query,
    Ranking,
    StoredChunk,
    Summary,
    Term,
)

__all__ = ["CardParser", "Embedder", "Index", "Ranker", "Snapshot", "Summarizer"]


class CardParser(Protocol):
    """Bytes of a file to a card. Pure: no IO, no clock.

    Never raises on content: whatever is wrong becomes a ``Problem`` of the card and the text stays searchable.
    """

    @property
    def version(self) -> str:
        """Changes whenever the same bytes may give another card."""

    def parse(self, data: bytes, *, id: str, path: str) -> Card:
        """Parse one file.

        Args:
            data: the file's bytes, any encoding, any content.
            id: the card's id.
            path: the vault-relative path on disk.
        """


class Embedder(Protocol):
    """Text to unit vectors. Deterministic; loads its model on first use, once for all threads."""

    @property
    def name(self) -> str:
        """What a user would write to select this model."""

    @property
    def fingerprint(self) -> str:
        """Names everything that shapes the vectors: weights, prefixes, pooling, library versions, width."""

    @property
    def dim(self) -> int:
        """Width of the vectors."""

    @property
    def max_tokens(self) -> int:
        """The model's window in its own tokens, prefix and special tokens included."""

    @property
    def floor(self) -> float | None:
        """Cosine of unrelated texts, None = not known."""

    @property
    def ceiling(self) -> float | None:
        """Cosine of a query and its best possible answer, None = not known."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's tokens, not truncated, without prefix and special tokens."""

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """(n, dim) float32 rows of unit length; a blank text gives a zero row.

        Raises:
            ModelUnavailable: the model is not here.
            ModelError: it is here and broken.
        """

    def embed_query(self, text: str) -> FloatArray:
        """(dim,) float32 of unit length, zero for a blank text. Raises as ``embed_documents``."""


class Snapshot(Protocol):
    """An immutable, consistent view of an index at one sequence number: old or new cards, never a mixture.

    ``SnapshotExpired`` from any method means that a later change purged rows under a slow reader: take a new snapshot.
    """

    @property
    def stats(self) -> IndexStats:
        """Size and identity of this view."""

    @property
    def cards(self) -> Sequence[CardInfo]:
        """All cards, ordered by id."""

    @property
    def files(self) -> Mapping[str, KnownFile]:
        """Every card's file by id; cheaper than ``cards`` where only files are compared."""

    def keyword(self, terms: Sequence[Term], filter: Filter, limit: int) -> Ranking:
        """The ``limit`` best chunks by weighted BM25 of the terms, among the cards that pass the filter.

        A chunk that holds no term of a weight above 0 is not found.
        """

    def semantic(self, vector: FloatArray, filter: Filter, limit: int) -> Ranking:
        """The ``limit`` best chunks by cosine to a unit vector (dim,), among the cards that pass the filter."""

    def evidence(self, chunks: IntArray, terms: Sequence[Term], vector: FloatArray | None, window: int) -> Evidence:
        """Exact term counts, lengths and cosines of the chunks at every layer."""

    def chunks(self, ids: Sequence[int]) -> list[StoredChunk]:
        """The chunks with these ids, in this order. The one behind a chunk in its card has the next id."""

    def of_card(self, id: str) -> list[StoredChunk]:
        """All chunks of one card in order, with ids that follow each other; empty when there is no such card."""

    def layers(self, ids: Sequence[str]) -> list[CardLayers]:
        """Abstract and overview of the cards with these ids, in this order; blank for a card that is not there."""

    def pending(self, model: str, limit: int) -> list[StoredChunk]:
        """At most ``limit`` chunks that need a vector of this model (fingerprint) and have none, newest cards first."""


class Index(Protocol):
    """What a vault is searched with: a disposable cache of the files.

    One process may hold many; several processes may open the same place. A change is all or nothing, also across a
    kill: after it, the next open sees the state before or after. Readers never wait for a writer.
    """

    def apply(self, change: ChangeSet) -> int:
        """Apply one change atomically and give its sequence number (greater than every earlier one).

        Raises:
            IndexFault: it could not be written; nothing changed.
        """

    def snapshot(self) -> Snapshot:
        """The newest consistent view. Cheap when nothing changed.

        Raises:
            IndexFault: the index could not be read nor set aside.
        """

    def verify(self) -> list[str]:
        """Check the index against itself, row by row; each fault in one sentence, none = sound."""

    def repair(self, progress: Callable[[int, int], None]) -> None:
        """Make anew what is damaged and can be made from the rest; ``stats.fault`` says whether something is.

        A snapshot never waits for that. It is done by the next change, too.

        Args:
            progress: called with chunks done and chunks in all; an exception of it ends the repair, and all stays as
                it was.

        Raises:
            IndexFault: it could not be written.
        """

    def reset(self, fault: str) -> None:
        """Set everything aside and start empty, as a place that was never used; ``stats.notes`` tell of it.

        Args:
            fault: what was wrong, in one sentence.

        Raises:
            IndexFault: it could not be written.
        """

    def close(self) -> None:
        """Release files, memory and locks. Calling it twice does nothing."""


class Ranker(Protocol):
    """Query to a ranking of chunks: one way of finding candidates. Never builds hits."""

    @property
    def name(self) -> str:
        """Name in the trace and in ``Config.rankers``."""

    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        """The ``limit`` best chunks for the query among the cards that pass the filter."""


class Summarizer(Protocol):
    """A card's text to its layers, in words.

    Looks at nothing but the card's id, title, description, body, and ``summary`` in its frontmatter: while all of these
    but the id are as they were, layers are kept and it is not asked.

    Never raises for a model that fails: the layers are then made without it, and the notes say so.
    """

    @property
    def fingerprint(self) -> str:
        """Names everything that shapes the text: method or model, prompt version."""

    def summarize(self, card: Card) -> Summary:
        """L0 (who, what, when, which decision) and L1 (outline, key points, names, timeline, open to-dos)."""

    def draft(self, card: Card) -> Summary:
        """The best layers that can be had at once: nothing is waited for, no network is used.

        The notes say what ``summarize`` would make better; no notes = it would give the same.
        """

    def forget(self, id: str) -> None:
        """Drop whatever is kept of the card with this id: it was deleted. Unknown ids are ignored."""

    def rename(self, old: str, new: str) -> None:
        """Whatever is kept of the card ``old`` is now of the card ``new``. Unknown ids are ignored."""
