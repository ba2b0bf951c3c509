"""The vault: a folder of Markdown that can be searched. Composition only; every step lives in its own module."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType

from cogvault.cards import MarkdownCardParser
from cogvault.config import Config, ResolvedConfig, cache_folder, index_folder, resolve, vault_folder
from cogvault.errors import CogvaultError, ModelError, VaultError
from cogvault.indexes import LocalIndex
from cogvault.indexing.card_text import read_card
from cogvault.indexing.debounce import Batch
from cogvault.indexing.report import Progress, SyncProgress, SyncReport
from cogvault.indexing.rollups import VaultLayers
from cogvault.indexing.sync import Syncer, SyncOptions, last_sync
from cogvault.indexing.watching import Watcher, sync_batch
from cogvault.layers.folder_store import FolderStore
from cogvault.protocols import Embedder, Index, Snapshot
from cogvault.registry import NO_MODEL, ModelPool, make_rankers, make_summarizer, shared_models
from cogvault.retrieval.calibration import calibrate, measure_floor, sample_of
from cogvault.retrieval.hits import Hits
from cogvault.retrieval.request import (
    Names,
    When,
    build_filter,
    checked_budget,
    checked_count,
    checked_layer,
    checked_query,
    checked_share,
)
from cogvault.retrieval.scoring import Calibration
from cogvault.retrieval.search import SYNC_HINT, Searcher, SearchOptions, SearchRequest
from cogvault.types import CardInfo, CardText, Status, VaultStatus

__all__ = ["Vault"]

logger = logging.getLogger(__name__)

# A search embeds at most this many new chunks by itself; more wait for the next sync, and the answer says so.
SEARCH_EMBEDS = 128
# A search waits no longer than this for a writer.
SEARCH_WAIT_SECONDS = 0.3
# A watcher measures the model's floor anew after so long without a change: it takes as long as two dozen searches, in
# which no edit is taken.
QUIET_SECONDS = 30.0


class Vault:
    """A folder of Markdown as searchable memory. Safe to share between threads; also a context manager.

    Args:
        path: the folder; it must exist. Nothing is ever written into it by indexing or searching.
        config: settings that win over environment and the vault's own ``.cogvault.toml``.
        embedder: a model object instead of one chosen by ``config.model``.
        index: an index object instead of the local one.
        models: pool of models; None = the pool all vaults of this process share.
        clock: gives the current instant, timezone-aware.

    Raises:
        VaultError: the folder is missing or not a folder.
        ConfigError: a setting is wrong.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        config: Config | None = None,
        *,
        embedder: Embedder | None = None,
        index: Index | None = None,
        models: ModelPool | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.path = vault_folder(path)
        self.resolved: ResolvedConfig = resolve(self.path, config, os.environ)
        self.config: Config = self.resolved.config
        self._given = embedder
        self._models = models or shared_models(cache_folder(self.config), self.config.threads)
        self._clock = clock
        self._lock = threading.RLock()
        self._folder = index_folder(self.path, self.config)
        self._index: Index | None = index
        self._closed = False
        self._checked = float("-inf")
        self._changed = float("-inf")
        self._stale = ""
        self._report: SyncReport | None = None
        self._watcher: Watcher | None = None
        self._summarizer = make_summarizer(self.config.summarizer, self._folder / "summaries.sqlite")
        self._folders = FolderStore(self._folder / "folders.sqlite")
        self.layers = VaultLayers(self._fresh, self._folders, self._summarizer.fingerprint)
        self._searcher = Searcher(
            make_rankers(_ranker_names(self.config, embedder)),
            self._embedder,
            _search_options(self.config),
            _calibration,
            self._models.reranker(self.config.rerank_model, self.config.rerank_threads or self.config.threads),
        )

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Vault({str(self.path)!r})"

    def close(self) -> None:
        """Release the index. The vault cannot be used afterwards; calling it twice does nothing."""
        if self._watcher is not None:
            self._watcher.close()
        with self._lock:
            self._closed = True
            if self._index is not None:
                self._index.close()
                self._index = None

    def sync(self, *, verify: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> SyncReport:
        """Make the index equal to the files: keyword part first, then vectors.

        Args:
            verify: read and hash every file instead of trusting stamps.
            progress: called with each step's progress.

        Raises:
            VaultError: the folder vanished or cannot be read; the index stays as it is.
            IndexFault: the index could not be written.
        """
        report = self._syncer().sync(verify=verify, progress=progress)
        self._measure()
        self._checked, self._stale, self._report = time.monotonic(), "", report
        return report

    reindex = sync

    def watch(self) -> Watcher:
        """Keep the index equal to the files as long as the ``with`` block of the result lasts.

        Raises:
            VaultError: this object is watching already.
        """
        if self._watcher is not None and self._watcher.is_running:
            raise VaultError("the vault is watched already", path=self.path, hint="use that watcher's reports(stop)")
        scan = SyncOptions.from_config(self.config, self._folder).scan
        self._watcher = Watcher(self.path, scan, self._sync_batch)
        return self._watcher

    def changes(self, stop: threading.Event) -> Iterator[SyncReport]:
        """Watch until ``stop`` is set: the first report, then those of syncs that changed the index or failed."""
        with self.watch() as watcher:
            yield from watcher.reports(stop)

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        type: Names = None,
        tags: Names = None,
        path: str | None = None,
        after: When = None,
        before: When = None,
        as_of: When = None,
        where: Mapping[str, object] | None = None,
        min_score: float | None = None,
        budget_tokens: int | None = None,
        layer: str = "auto",
        session_seen: Iterable[str] = (),
        explain: bool = False,
        sync: bool = True,
    ) -> Hits:
        """Recall.

        Args:
            query: a question, words, a title; at most 8 KiB of it are used.
            k: hits at most; default 5, with ``budget_tokens`` as many as fit.
            type: one card type or several, any of which will do.
            tags: one tag or several, all of which are needed.
            path: folder or card to search in.
            after, before: range of the card's date; ``before`` is not part of it.
            as_of: recall what was valid at this instant.
            where: frontmatter keys and the values they must have.
            min_score: lowest score, 0 to 1; None = the threshold ladder decides.
            budget_tokens: pack an answer of at most so many tokens into ``Hits.text``.
            layer: ``auto``, ``L2``, ``L1`` or ``L0``: how much of each card the packed answer tells.
            session_seen: ids to leave out because the asker was told already.
            explain: fill ``Hit.parts``.
            sync: look for changed files first, at most every ``config.refresh_seconds``.

        Raises:
            QueryError: an argument is out of range.
            IndexFault: the index could not be used at all.
        """
        request = SearchRequest(
            text=checked_query(query),
            k=checked_count(k, budget_tokens),
            now=self._clock(),
            filter=build_filter(
                type=type,
                tags=tags,
                path=path,
                after=after,
                before=before,
                as_of=as_of,
                where=where,
                without=session_seen,
            ),
            min_score=checked_share("min_score", min_score),
            budget_tokens=checked_budget(budget_tokens),
            layer=checked_layer(layer),
            explain=explain,
        )
        if sync:
            self._refresh()
        hits = self._searcher.search(self._open(), request)
        if self._stale:
            return replace(hits, status=Status.STALE, reason=self._stale, hint=SYNC_HINT)
        return hits

    def read(self, id: str, lines: tuple[int, int] | None = None) -> CardText:
        """Text of a card as it stands in its file.

        Args:
            id: a card's id, as in ``Hit.id``, or its path on disk.
            lines: first and last line, 1-based; None = all. Lines behind the end give nothing.

        Raises:
            PathError: the id names no card; the refusal does not say what exists.
            QueryError: the lines are no range.
        """
        options = SyncOptions.from_config(self.config, self._folder)
        return read_card(self.path, options.scan, self.cards(), id, lines)

    def cards(self) -> Sequence[CardInfo]:
        """All indexed cards, ordered by id."""
        return self._open().snapshot().cards

    def status(self) -> VaultStatus:
        """What the vault holds and how well it is."""
        snapshot = self._open().snapshot()
        stats = snapshot.stats
        pending = stats.embeddable - stats.vectors
        status, reason, hint = self._state(snapshot, pending)
        problems = [problem for card in snapshot.cards for problem in card.problems]
        if self._report is not None:
            problems.extend(problem for problem in self._report.failed if problem not in problems)
        return VaultStatus(
            path=str(self.path),
            index=str(self._folder),
            status=status,
            reason=reason,
            hint=hint,
            cards=stats.cards,
            chunks=stats.chunks,
            vectors=stats.vectors,
            pending=pending,
            model=stats.identity.model_name,
            bytes_on_disk=stats.bytes_on_disk,
            sequence=stats.sequence,
            synced_at=last_sync(self._folder),
            problems=tuple(problems),
            notes=stats.notes,
        )

    def _state(self, snapshot: Snapshot, pending: int) -> tuple[Status, str, str]:
        if self._stale:
            return Status.STALE, self._stale, SYNC_HINT
        if not snapshot.stats.cards:
            return Status.EMPTY, "the vault has no indexed cards", f"{SYNC_HINT}; set recursive for subfolders"
        if not self._is_keyword_only:
            if self._embedder() is None:
                return Status.DEGRADED, "no embedding model: keyword recall only", "pip install 'cogvault[bundled]'"
            if pending:
                return Status.DEGRADED, f"{pending} chunks have no vector yet", SYNC_HINT
        if self._watcher is not None and self._watcher.is_running:
            return self._watcher.status, self._watcher.reason, self._watcher.hint
        return Status.OK, "", ""

    @property
    def _is_keyword_only(self) -> bool:
        return self.config.model == NO_MODEL and self._given is None

    def _open(self) -> Index:
        with self._lock:
            if self._closed:
                raise VaultError("the vault is closed", path=self.path, hint="open it again with Vault(path)")
            if self._index is None:
                self._index = LocalIndex(self._folder, threads=self.config.threads)
            return self._index

    def _embedder(self) -> Embedder | None:
        """The model of this vault, or None; a model that cannot be had is logged, and search goes on without."""
        if self._given is not None or self.config.model == NO_MODEL:
            return self._given
        try:
            return self._models.get(self.config.model, stored=self._open().snapshot().stats.identity.model_name)
        except ModelError as error:
            logger.warning("no embedding model: %s", error)
            return None

    def _syncer(self) -> Syncer:
        config = self.config
        return Syncer(
            self.path,
            self._open(),
            MarkdownCardParser(strip_frontmatter=config.strip_frontmatter),
            self._embedder(),
            SyncOptions.from_config(config, self._folder, keyword_only=self._is_keyword_only),
            summarizer=self._summarizer,
            folders=self._folders,
        )

    def _fresh(self) -> Snapshot:
        self._refresh()
        return self._open().snapshot()

    def _refresh(self) -> None:
        """Look for changed files when the last look is old enough; a failure makes the answer stale, never wrong."""
        with self._lock:
            if time.monotonic() - self._checked < self.config.refresh_seconds:
                return
            self._checked = time.monotonic()
        try:
            self._report = self._look(
                lambda syncer: syncer.sync(embed_limit=SEARCH_EMBEDS, timeout_seconds=SEARCH_WAIT_SECONDS)
            )
            if self._report.is_changed:
                self._measure()  # or the same files would score otherwise after a sync
        except CogvaultError:  # the answer's status says it
            return

    def _sync_batch(self, batch: Batch, progress: Progress) -> SyncReport:
        report = self._look(lambda syncer: sync_batch(syncer, batch, progress))
        now = time.monotonic()
        if report.is_changed:
            self._changed = now
        is_quiet = batch is None and now - self._changed > QUIET_SECONDS
        if is_quiet or not self._open().snapshot().stats.identity.measured:
            self._measure()
        if batch is None or report.failed:
            self._report = report
        return report

    def _look(self, sync: Callable[[Syncer], SyncReport]) -> SyncReport:
        try:
            report = sync(self._syncer())
        except CogvaultError as error:
            self._stale = f"changes were not looked for: {error}"
            raise
        self._stale = report.reason if report.status is Status.STALE else ""
        return report

    def _measure(self) -> None:
        """Measure the model's floor on this vault when the texts it was measured on changed."""
        index = self._open()
        snapshot = index.snapshot()
        stats, embedder = snapshot.stats, self._embedder()
        if embedder is None or stats.identity.model != embedder.fingerprint or stats.vectors < stats.embeddable:
            return
        sample, name = sample_of(snapshot.cards)
        if name == stats.identity.measured:
            return
        try:
            floor = measure_floor(snapshot, sample, embedder)
        except ModelError as error:
            logger.warning("floor not measured: %s", error)
            return
        self._syncer().mark(floor, name)


def _ranker_names(config: Config, embedder: Embedder | None) -> list[str]:
    """Rankers that are asked; who wants no model wants no semantic ranker either, and misses nothing."""
    if config.model == NO_MODEL and embedder is None:
        return [name for name in config.rankers if name != "semantic"]
    return list(config.rankers)


def _calibration(snapshot: Snapshot, embedder: Embedder) -> Calibration:
    return calibrate(snapshot.stats.identity.floor, embedder)


def _search_options(config: Config) -> SearchOptions:
    fields = SearchOptions.__dataclass_fields__
    return SearchOptions(**{name: getattr(config, name) for name in fields})
