"""Make an index equal to the files: keyword part first, then vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from cogvault.embedders.kept_vectors import KeptVectors
from cogvault.errors import VaultError
from cogvault.indexing.cardfiles import CardFiles
from cogvault.indexing.chunker import Chunker, chunker_for
from cogvault.indexing.forgetting import Remains
from cogvault.indexing.keyword import Applied, carry_out
from cogvault.indexing.known_files import KnownFiles
from cogvault.indexing.last_run import LastRun, how_made
from cogvault.indexing.locking import Locks
from cogvault.indexing.look import Look
from cogvault.indexing.meter import Meter
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.plan import plan
from cogvault.indexing.report import UNINDEXED_HINT, Progress, SyncReport, degraded, unindexed
from cogvault.indexing.rollups import folders_above, update_folders
from cogvault.indexing.scan import ScanResult, root_id, scan
from cogvault.indexing.summaries import drafts_of, summarize_drafts, summary_problems
from cogvault.indexing.vector_part import VectorPart
from cogvault.indexing.written import WrittenPaths
from cogvault.layers.folder_store import FolderStore
from cogvault.protocols import CardParser, Embedder, Index, Summarizer
from cogvault.types import ChangeSet, Status

__all__ = ["Syncer"]

_TOLD_FAULTS = 3


class Syncer:
    """Makes one index equal to the files of one vault. Safe to use from several threads and processes at once.

    Args:
        root: the vault.
        index: what to fill.
        parser: bytes to cards.
        embedder: chunks to vectors; None = keyword only.
        options: which files, and how.
        chunker: cards to chunks; None = the one for the embedder.
        summarizer: abstract and overview of a card, kept in its record; None = none. Another one puts all cards again,
            and their vectors stay.
        folders: where abstract and overview of each folder are kept; None = they are not made.
        kept: the machine's cache of vectors where the model has none, or there is no model.
        now_ns: clock, nanoseconds since the epoch.
    """

    def __init__(
        self,
        root: Path,
        index: Index,
        parser: CardParser,
        embedder: Embedder | None,
        options: SyncOptions,
        *,
        chunker: Chunker | None = None,
        summarizer: Summarizer | None = None,
        folders: FolderStore | None = None,
        kept: KeptVectors | None = None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._root = root
        self._index = index
        self._parser = parser
        self._chunker = chunker or chunker_for(embedder, options.chunk_tokens)
        self._embedder = embedder
        self._options = options
        self._summarizer = summarizer
        self._folders = folders
        self._remains = Remains(embedder, kept, summarizer)
        self._summarizer_name = "" if summarizer is None else summarizer.fingerprint
        self._making = how_made(parser, summarizer)
        self._now_ns = now_ns
        self._locks = Locks(options.lock_folder)
        self._vectors = VectorPart(index, embedder, self._locks, options.vector_batch)
        self._written = WrittenPaths(options.lock_folder, is_shared=options.is_shared)
        self._last = LastRun(options, self._making)

    def sync(
        self,
        *,
        verify: bool = False,
        progress: Progress | None = None,
        embed_limit: int | None = None,
        paths: Iterable[Path | str] | None = None,
        timeout_seconds: float | None = None,
        embed_wait_seconds: float | None = None,
    ) -> SyncReport:
        """Scan, plan, parse, chunk, commit the keyword part, embed what has no vector, ask a language model last.

        Args:
            verify: read every file, whatever its stamp says, and check the index row by row: one with a fault is set
                aside and made anew.
            progress: called as the work goes on; an exception of it ends the sync, and what is committed stays.
            embed_limit: chunks to embed at most, 0 = none, None = all. Who sets one cannot wait: a language model that
                writes layers is not asked either, its cards keep extracted ones for now, and layers of folders are made
                later.
            paths: only these may have changed (absolute, or relative to the root); None = any.
            timeout_seconds: how long to wait for another sync, None = as the options say. Who sets it waits only when
                there is something to write, and writes nothing into a damaged index.
            embed_wait_seconds: how long to wait for another process that embeds, None = as for another sync.

        Raises:
            VaultError: the root is missing, unreadable or no folder, or another folder than before with none of the
                cards, and no ``verify``; the index stays as it is.
            IndexFault: the index could not be read or written; what was committed before stays.
        """
        meter = Meter(progress)
        paths = None if paths is None else tuple(paths)
        timeout = self._options.lock_timeout_seconds if timeout_seconds is None else timeout_seconds
        look = None if timeout_seconds is None else self._look(verify, paths, meter)
        # Writing would begin with making it anew, which may take a minute.
        is_damaged = look is not None and bool(self._index.snapshot().stats.fault)
        if is_damaged and look is not None and not look.is_done:
            reason = "changed files wait until the damaged keyword index is made anew"
            return SyncReport(Status.STALE, reason, "wait, or sync (`cogvault index`)", seconds=meter.seconds)
        is_hurried = paths is not None or embed_limit is not None
        done = self._in_turn(look, partial(self._look, verify, paths, meter), timeout, verify, is_hurried, meter)
        if done is None:
            reason, hint = "another sync of this vault did not end in time", "try again, or find who hangs"
            return SyncReport(Status.STALE, reason, hint, seconds=meter.seconds)
        look, report = done
        self._last.fill(look)
        wait = timeout if embed_wait_seconds is None else embed_wait_seconds
        if not self._options.keyword_only:
            report = self._vectors.fill(report, 0 if is_damaged else embed_limit, wait, meter)
        self._last.end(look, report.failed, self._index.snapshot().stats.sequence)
        return replace(self._summaries(report, look, embed_limit is None, timeout, meter), seconds=meter.seconds)

    def repair(self, timeout_seconds: float, progress: Progress) -> bool:
        """Make anew what is damaged in the index and can be made from the rest of it; False = another sync is at work.

        Args:
            timeout_seconds: how long to wait for another sync.
            progress: as for ``sync``.

        Raises:
            IndexFault: the index could not be written.
        """
        with self._locks.keyword(timeout_seconds) as held:
            if held:
                self._index.repair(Meter(progress).tell)
        return held

    def looked_seconds(self) -> float | None:
        """How long ago another process began a look at all files after which this one would find nothing to do but for
        what changed since; None = not known.

        Raises:
            VaultError: the root is missing, unreadable or no folder.
            IndexFault: the index could not be read.
        """
        stats, here = self._index.snapshot().stats, root_id(self._root)
        is_ours = self._chunker.accepts(stats.identity.chunking, self._making) and self._last.root() == here
        return self._last.looked_seconds(stats.sequence) if is_ours and not stats.fault else None

    def mark(self, floor: float | None, measured: str, timeout_seconds: float) -> None:
        """Keep the model's floor on this vault in the index's identity, as it is by then."""
        with self._locks.keyword(timeout_seconds) as held:
            if held:  # else the next sync measures again
                identity = self._index.snapshot().stats.identity
                if self._embedder is None or identity.model != self._embedder.fingerprint:
                    return  # another process switched models: the floor is not the new one's
                self._index.apply(ChangeSet(identity=replace(identity, floor=floor, measured=measured)))

    def _in_turn(
        self,
        look: Look | None,
        look_again: Callable[[], Look],
        timeout_seconds: float,
        verify: bool,
        is_hurried: bool,
        meter: Meter,
    ) -> tuple[Look, SyncReport] | None:
        """Carry out what a look found, in this sync's turn, unless others do it first; None = no turn came.

        Args:
            look: None = look in turn, and make anew what is damaged before.
        """
        deadline = time.monotonic() + timeout_seconds
        while look is None or not look.is_done:
            is_over = None if look is None else partial(self._is_outdated, look)
            with self._locks.keyword(max(0.0, deadline - time.monotonic()), is_over) as held:
                if held:
                    if look is None:
                        self._index.repair(meter.tell)
                    if verify:
                        self._verify()
                    if look is None or self._is_outdated(look):  # only now nobody else writes
                        look = look_again()
                    return look, self._keyword(look, meter, is_hurried=is_hurried)
            is_late = time.monotonic() >= deadline
            if look is None or not self._is_outdated(look):
                return None
            look = look_again()  # where many processes write, one of them does the work of most
            if is_late and not look.is_done:
                return None
        return look, self._nothing_to_do(look, meter)

    def _verify(self) -> None:
        """Do without what was altered in the index, or may have been."""
        if faults := self._index.verify():
            self._index.reset("; ".join(faults[:_TOLD_FAULTS]))
        if self._folders is not None:  # whose texts no checksum guards
            self._folders.forget()

    def _look(self, verify: bool, paths: Iterable[Path | str] | None, meter: Meter) -> Look:
        began_ns, written = self._last.now_ns(), self._written.read()
        # The snapshot is older than the scan: what another process writes in between shows as something to do.
        snapshot = self._index.snapshot()
        rebuild = not self._chunker.accepts(snapshot.stats.identity.chunking, self._making)
        meter.start("scan")
        alone = KnownFiles(snapshot.cards)
        # In another folder than before nothing is known, whatever was written there just now.
        is_whole = rebuild or paths is None or self._last.root() not in (None, root_id(self._root))
        indexed = snapshot.files
        scanned = scan(self._root, self._options.scan, None if is_whole else paths, alone.is_plain, indexed)
        meter.tell(len(scanned.files), len(scanned.files))
        files = CardFiles(
            self._root,
            scanned.files,
            self._parser,
            self._chunker.chunk,
            None if self._summarizer is None else self._summarizer.draft,
            self._options.max_card_bytes,
            self._now_ns,
        )
        known = indexed if scanned.scopes else alone.files(scanned.alone)
        todo = plan(
            known,
            scanned.files,
            files.content,
            covers=scanned.covers,
            verify=verify,
        )
        if known and len(todo.removed) == len(known) and not verify:
            self._refuse_another_folder(scanned, len(known))
        others = len(snapshot.cards) - len(known)
        making = self._chunker.fingerprint(self._making) if rebuild else None
        seen = written if scanned.is_whole else written.among(self._relative(path) for path in paths or ())
        return Look(snapshot.cards, snapshot.stats.sequence, scanned, files, todo, others, making, began_ns, seen)

    def _is_outdated(self, look: Look) -> bool:
        return not look.is_of(self._index.snapshot())

    def _relative(self, path: Path | str) -> str:
        return Path(os.path.relpath(self._root / path, self._root)).as_posix()

    def _refuse_another_folder(self, scanned: ScanResult, cards: int) -> None:
        """Where a disk is not mounted there is an empty folder, which must not pass for a vault without cards."""
        before = self._last.root()
        if before is not None and before != scanned.root:
            raise VaultError(
                f"none of the {cards} cards is there, and the vault's folder is another one than before",
                path=self._root,
                hint="mount its disk, or put the folder back; if the cards are gone for good, sync with verify "
                "(`cogvault index --verify`)",
            )

    def _nothing_to_do(self, look: Look, meter: Meter) -> SyncReport:
        is_new = look.scanned.is_whole and not self._last.made_with.is_kept
        if look.written.lines or is_new:  # what was written another sync saw, or found as it was
            with self._locks.keyword(0) as held:
                if held:
                    self._written.take(look.written)
                    if is_new and not self._is_outdated(look):
                        self._last.made_with.keep()
        return self._told(look, Applied(), meter)

    def _keyword(self, look: Look, meter: Meter, *, is_hurried: bool) -> SyncReport:
        todo = look.todo
        if not self._index.snapshot().stats.identity.chunking:
            self._last.begin_anew()
            if self._folders is not None:  # of a former index, whose sequences come again
                self._folders.forget()
        meter.start("keyword")
        # Before the index forgets them, so that a kill leaves nothing behind.
        self._remains.forget(self._index.snapshot(), todo.removed)
        self._remains.share(todo.moved)
        self._last.made_with.begin()
        applied = carry_out(todo, self._index, look.files, look.rebuild_as, self._options.card_batch, meter.tell)
        self._remains.rename((old, new) for old, new in todo.moved if new in applied.ids)
        if look.scanned.is_whole:
            self._last.made_with.keep()
        self._written.take(look.written)
        report = self._told(look, applied, meter)  # what follows changes no answer
        if not is_hurried:
            return replace(report, folders=self._roll_up(is_changed=bool(applied.ids or todo.removed)))
        # Folders' layers are made for who asks for them, or by the next sync that nobody waits for; but what is gone
        # must not live on in them.
        former = (*todo.removed, *todo.changed, *(old for old, _ in todo.moved))
        if former and self._folders is not None:
            self._folders.drop(folders_above(former))
        return report

    def _told(self, look: Look, applied: Applied, meter: Meter) -> SyncReport:
        """What was done, and what could not be."""
        todo, unread = look.todo, look.scanned.unread
        failed = (*(look.files.failed[id] for id in sorted(look.files.failed)), *unread)
        report = SyncReport(
            added=tuple(id for id in todo.added if id in applied.ids),
            changed=tuple(id for id in todo.changed if id in applied.ids),
            moved=tuple(pair for pair in todo.moved if pair[1] in applied.ids),
            removed=todo.removed,
            unchanged=look.others + len(todo.unchanged),
            refreshed=len(applied.ids.intersection(todo.unchanged)),
            failed=failed,
            problems=(*(found for found in look.scanned.problems if found not in unread), *applied.problems),
            reused=applied.reused,
            layers_reused=look.files.layers_reused,
            keyword_seconds=meter.seconds,
        )
        if failed:
            report = degraded(report, unindexed(len(failed)), UNINDEXED_HINT)
        return report

    def _roll_up(self, *, is_changed: bool) -> int:
        if self._folders is None:
            return 0
        return update_folders(self._index.snapshot(), self._folders, self._summarizer_name, is_changed=is_changed)

    def _summaries(self, report: SyncReport, look: Look, is_wanted: bool, timeout: float, meter: Meter) -> SyncReport:
        """The last step: what a language model says takes the place of what was extracted."""
        ids = None if look.scanned.is_whole else look.files.files  # who waits for a few files asks for no others
        drafts = drafts_of(self._index.snapshot(), ids)
        if not drafts or self._summarizer is None:
            return report
        others = tuple(problem for problem in report.problems if problem not in summary_problems(report.problems))
        report = replace(report, problems=others, pending_summaries=len(drafts))
        if not is_wanted:
            return report
        with self._locks.summaries(0) as held:
            if not held:
                return degraded(report, f"{len(drafts)} cards wait for another process to summarize them", "wait")
            meter.start("summaries")
            outcome = summarize_drafts(
                self._index, look.files, self._summarizer, lambda: self._locks.keyword(timeout), meter.tell
            )
        folders = report.folders
        if outcome.made:
            with self._locks.keyword(timeout) as held:
                folders = max(folders, self._roll_up(is_changed=True)) if held else folders
        pending = len(drafts_of(self._index.snapshot(), ids))
        report = replace(report, summarized=outcome.made, pending_summaries=pending, folders=folders)
        if not pending:
            return report
        report = replace(report, problems=(*report.problems, *outcome.failed))
        reason = f"{pending} cards have extracted abstracts and overviews, because the summarizer gave none"
        return degraded(report, reason, "see the reason of each card, and sync again")
