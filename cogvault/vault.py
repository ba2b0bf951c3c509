"""The vault: a folder of Markdown that can be searched. Composition only; every step lives in its own module."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType

from cogvault.authoring import Authoring
from cogvault.config import Config, ResolvedConfig, cache_folder, index_folder, resolve, state_folder, vault_folder
from cogvault.curation import Curation
from cogvault.engine import Engine
from cogvault.indexes import find_place
from cogvault.indexes.noted import with_problems
from cogvault.indexing.card_text import read_card
from cogvault.indexing.forgetting import TextForgetter
from cogvault.indexing.last_problems import LastProblems
from cogvault.indexing.last_sync import LastSync
from cogvault.indexing.report import SyncProgress, SyncReport
from cogvault.indexing.rollups import VaultLayers
from cogvault.indexing.watching import Watcher
from cogvault.layers.folder_store import FolderStore
from cogvault.lifecycle.layer_files import Layers
from cogvault.lifecycle.usage import Usage
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Embedder, Index, Snapshot
from cogvault.rankers import CrossEncoder
from cogvault.registry import NO_MODEL, ModelPool, make_rankers, make_summarizer, shared_models
from cogvault.resources import Resources
from cogvault.retrieval.calibration import calibrate
from cogvault.retrieval.hits import Hits
from cogvault.retrieval.request import Names, When, search_request
from cogvault.retrieval.scoring import Calibration
from cogvault.retrieval.search import SYNC_HINT, Searcher, SearchOptions
from cogvault.retrieval.succession import SharedGraph
from cogvault.retrieval.turns import Turns
from cogvault.types import CardInfo, CardLayers, CardText, Status, VaultStatus
from cogvault.types.arguments import check_arguments

__all__ = ["Vault"]


class Vault(Authoring, Curation):
    """A folder of Markdown as searchable memory. Safe to share between threads; also a context manager.

    Args:
        path: the folder; it must exist. Nothing is ever written into it by indexing or searching.
        config: settings that win over environment and the vault's own ``.cogvault.toml``.
        embedder: a model object instead of one chosen by ``config.model``.
        index: an index object instead of the local one.
        models: pool of models; None = the pool all vaults of this process share.
        clock: gives the current instant, timezone-aware.

    Attributes:
        models: the pool.

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
        self._clock = clock
        self._place = find_place(index_folder(self.path, self.config))
        self._folder = self._place.folder
        self.models = models = models or shared_models(cache_folder(self.config), self.config.threads)
        summarizer = make_summarizer(self.config.summarizer, self._folder / "summaries.sqlite")
        folders = FolderStore(self._folder / "folders.sqlite")
        self._usage = Usage(state_folder(self.path, self.config) / "usage.sqlite", clock)
        self._resources = Resources(
            self.path,
            self.config,
            self._place,
            models,
            embedder=embedder,
            index=index,
            summarizer=summarizer,
            folders=folders,
        )
        self._engine = Engine(self._resources, moved=self._usage.move, at_rest=self._sweep_by_schedule)
        forget_text = TextForgetter(
            self._resources.index, self._resources.embedder, models.kept_vectors(), self.config.chunk_tokens
        )
        self._workspace = Workspace(
            root=self.path,
            config=self.config,
            parser=self._resources.parser,
            index_folder=self._folder,
            notes_folder=self._resources.options.notes_folder,
            state_folder=state_folder(self.path, self.config),
            fresh=partial(self._engine.certain, look=False),
            latest=self._engine.latest,
            forget_text=forget_text,
            wrote=self._engine.touch,
            clock=clock,
        )
        made = VaultLayers(self._engine.certain, folders, summarizer.fingerprint)
        self.layers = Layers(made, folders, self._workspace)
        Authoring.__init__(self, self._workspace, self._engine.known, self._finalize)
        Curation.__init__(self, self._engine, self._workspace, self._usage, self.layers.remake)
        self._make_searcher = partial(
            _searcher,
            _ranker_names(self.config, embedder),
            self._resources.embedder,
            _search_options(self.config),
            models.reranker(self.config.rerank_model, self.config.rerank_threads or self.config.threads),
            self._workspace.links,
            models.turns,
        )
        self._searcher = self._make_searcher()

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Vault({str(self.path)!r})"

    @property
    def is_repairing(self) -> bool:
        """True while a damaged index is made anew beside the answers; ``close`` breaks that off, ``sync`` ends it."""
        return self._engine.repairs.is_running

    def close(self) -> None:
        """Release the index. The vault cannot be used afterwards; calling it twice does nothing."""
        self._engine.close()
        self._place.close()
        self._usage.close()

    def rest(self) -> None:
        """Give back the memory of a small vault that is not in use: all that its next use reads again by itself.

        A vault of more than 2,000 chunks (some 500 cards) keeps what it read: reading it again takes too long.
        """
        if self._resources.rest():
            self._usage.close()
            self._workspace.links.forget()
            self._searcher = self._make_searcher()  # what it and its rankers made of the cards goes with the old one

    def sync(self, *, verify: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> SyncReport:
        """Make the index equal to the files: keyword part first, then vectors.

        Args:
            verify: read and hash every file instead of trusting stamps, and check the index row by row; one with a
                fault is set aside and made anew. Cards that are gone together with their folder are then given up.
            progress: called with each step's progress.

        Raises:
            VaultError: the folder vanished or cannot be read; the index stays as it is.
            IndexFault: the index could not be written.
            QueryError: ``verify`` is neither True nor False.
        """
        check_arguments(verify=verify)
        return self._engine.sync(verify=verify, progress=progress)

    reindex = sync

    def watch(self) -> Watcher:
        """Keep the index equal to the files as long as the ``with`` block of the result lasts.

        Raises:
            VaultError: this object is watching already.
        """
        return self._engine.watch()

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
            path: folder or card to search in, or the beginning of an address.
            after, before: range of the card's date; ``before`` is not part of it.
            as_of: recall what was valid at this instant.
            where: frontmatter keys and the values they must have.
            min_score: lowest score, 0 to 1; None = the threshold ladder decides.
            budget_tokens: pack an answer of at most so many tokens into ``Hits.text``.
            layer: ``auto``, ``L2``, ``L1`` or ``L0``: how much of each card the answer tells.
            session_seen: ids to leave out because the asker was told already.
            explain: fill ``Hit.parts``.
            sync: look for changed files first, at most every ``config.refresh_seconds``.

        Raises:
            QueryError: an argument is out of range.
            PathError: ``path`` can name nothing in a vault.
            IndexFault: the index could not be used at all.
        """
        check_arguments(explain=explain, sync=sync)
        request = search_request(
            self._clock(),
            query=query,
            k=k,
            type=type,
            tags=tags,
            path=path,
            after=after,
            before=before,
            as_of=as_of,
            where=where,
            min_score=min_score,
            budget_tokens=budget_tokens,
            layer=layer,
            session_seen=session_seen,
            explain=explain,
        )
        if sync:
            self._engine.look()
        hits, snapshot = self._searcher.search(self._resources.index(), request)
        if sync and self._engine.is_broken(snapshot) and self._engine.mend(snapshot):
            hits, snapshot = self._searcher.search(self._resources.index(), request)
        self._usage.count(hit.id for hit in hits)
        if stale := self._engine.stale(snapshot):
            return replace(hits, status=Status.STALE, reason=stale, hint=SYNC_HINT)
        if hits.status is Status.DEGRADED and (trouble := self._engine.trouble):
            hits = replace(hits, reason=f"{hits.reason} ({trouble.reason})", hint=trouble.hint)
        if hits.status in (Status.OK, Status.EMPTY) and (unread := self._engine.unread):
            hits = replace(hits, status=Status.DEGRADED, reason=unread.reason, hint=unread.hint)
        if self._place.reason and hits.status is not Status.EMPTY:
            said = "; ".join(filter(None, (self._place.reason, hits.reason)))
            return replace(hits, status=Status.DEGRADED, reason=said, hint=self._place.hint)
        return hits

    def read(self, id: str, lines: tuple[int, int] | None = None) -> CardText:
        """Text of a card as it stands in its file.

        Args:
            id: a card's id, as in ``Hit.id``, its path on disk, or its address.
            lines: first and last line, 1-based; None = all. Lines behind the end give nothing.

        Raises:
            PathError: the id names no card; the refusal does not say what exists.
            QueryError: the lines are no range.
            VaultError: the vault's folder is away.
        """
        card = read_card(self.path, self._resources.options.scan, self._engine.current().cards, id, lines)
        self._usage.count([card.id])
        return card

    def cards(self) -> Sequence[CardInfo]:
        """All indexed cards, ordered by id; of an index that is not complete yet, once it is, or VaultError."""
        snapshot = self._engine.current()
        return (self._engine.latest()[0] if self._engine.is_broken(snapshot) else snapshot).cards

    def status(self) -> VaultStatus:
        """What the vault holds and how well it is; where the last look at the files failed, after another one."""
        snapshot = self._engine.retried()
        report = self._engine.report
        stats, state = snapshot.stats, self._engine.state(snapshot)
        problems = [problem for card in with_problems(snapshot.cards) for problem in card.problems]
        if (kept := LastProblems(self._resources.options.notes_folder).read()) is not None:
            problems.extend(kept)
        elif report is not None:
            problems.extend((*report.failed, *report.problems))
        return VaultStatus(
            path=str(self.path),
            index=str(self._folder),
            status=state.status,
            reason=state.reason,
            hint=state.hint,
            cards=stats.cards,
            chunks=stats.chunks,
            vectors=stats.vectors,
            pending=0 if self._resources.is_keyword_only else stats.embeddable - stats.vectors,
            model=stats.identity.model_name,
            bytes_on_disk=stats.bytes_on_disk,
            sequence=stats.sequence,
            synced_at=LastSync(self._resources.options.notes_folder).at(),
            problems=tuple(dict.fromkeys(problems)),
            notes=stats.notes,
        )

    def _finalize(self, folder: str) -> CardLayers:
        self._engine.sync()
        return self.layers(folder)


def _searcher(
    rankers: Sequence[str],
    embedder: Callable[[Snapshot], Embedder | None],
    options: SearchOptions,
    reranker: CrossEncoder | None,
    links: SharedGraph,
    turns: Turns,
) -> Searcher:
    """A searcher that knows nothing yet, with rankers of its own."""
    return Searcher(make_rankers(rankers), embedder, options, _calibration, reranker, links, turns)


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
