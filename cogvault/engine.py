"""A vault at work: how its index follows the files, and what an answer is worth."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial

from cogvault.errors import CogvaultError, VaultError
from cogvault.health import index_state, model_state, watched_state
from cogvault.indexing.announced import Announced
from cogvault.indexing.beside import Beside
from cogvault.indexing.completeness import is_filled, is_lost
from cogvault.indexing.debounce import Batch
from cogvault.indexing.lag import Lag
from cogvault.indexing.last_problems import LastProblems
from cogvault.indexing.last_sync import LastSync
from cogvault.indexing.report import Progress, SyncProgress, SyncReport
from cogvault.indexing.scan import root_id
from cogvault.indexing.state import State
from cogvault.indexing.sync import Syncer
from cogvault.indexing.trouble import trouble_of
from cogvault.indexing.watching import Watcher, sync_batch
from cogvault.protocols import Snapshot
from cogvault.resources import Resources
from cogvault.retrieval.search import SYNC_HINT
from cogvault.types import Status

__all__ = ["Engine"]

logger = logging.getLogger(__name__)

# A search embeds at most this many new chunks by itself; more wait for the next sync, and the answer says so.
SEARCH_EMBEDS = 128
# A search waits no longer than this for a writer, and not at all for who embeds: that takes minutes.
SEARCH_WAIT_SECONDS = 0.1
# Nor longer than this for a watcher that looks at the files for the first time, a thread that looks at new cards, or a
# writer that keeps it from cards that were written through cogvault, once.
FIRST_LOOK_SECONDS = 1.5
# A watcher measures the model's floor anew after so long without a change: it takes as long as two dozen searches, in
# which no edit is taken.
QUIET_SECONDS = 30.0
_UNFILLED = "the index is not complete: no sync of all files has ended since it was made"


class Engine:
    """Keeps one vault's index equal to its files. Safe to share between threads.

    Args:
        resources: its index and its model.
        moved: told of cards that were found under another id, as (old, new).
        at_rest: called by a watcher after it has looked at everything.
    """

    def __init__(
        self,
        resources: Resources,
        *,
        moved: Callable[[Iterable[tuple[str, str]]], None],
        at_rest: Callable[[], None],
    ) -> None:
        self._resources = resources
        self._path, self._config = resources.path, resources.config
        self._index, self._embedder = resources.index, resources.embedder
        self._syncer, self._measure = resources.syncer, resources.measure
        self._options, self._is_keyword_only = resources.options, resources.is_keyword_only
        self._moved = moved
        self._at_rest = at_rest
        self._lock = threading.Lock()
        self._is_known = False
        self._checked = self._asked = self._changed = float("-inf")
        self._awaited: set[str] = set()
        self._announced = Announced(self._options.lock_folder, is_shared=self._options.is_shared)
        self._problems = LastProblems(self._options.notes_folder)
        self._lag = Lag()
        self._watcher: Watcher | None = None
        self.repairs = Beside(self._repair)
        self.report: SyncReport | None = None

    def is_broken(self, snapshot: Snapshot) -> bool:
        """True while a part of the index is damaged, or no sync of all files has ended since it was made."""
        return bool(snapshot.stats.fault) or not is_filled(snapshot, self._options.notes_folder)

    def stale(self, snapshot: Snapshot) -> str:
        """Why the index may lag behind the files; "" = it does not."""
        return str(self._lag) or ("" if is_filled(snapshot, self._options.notes_folder) else _UNFILLED)

    @property
    def trouble(self) -> State | None:
        """What the last look at all files could not do, of whichever process; None = it did all."""
        return trouble_of(self.report, self._problems)

    @property
    def unread(self) -> State | None:
        """That some files or folders could not be indexed when they were looked at last; None = all could."""
        return trouble_of(None, self._problems)

    def close(self) -> None:
        """Release the index. Calling it twice does nothing."""
        if self._watcher is not None:
            self._watcher.close()
        self.repairs.close()
        self._resources.close()

    def sync(self, *, verify: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> SyncReport:
        """Make the index equal to the files; see ``Vault.sync``."""
        report = self._look(lambda syncer: syncer.sync(verify=verify, progress=progress), is_whole=True)
        self._measure()
        self._checked, self.report = time.monotonic(), report
        return report

    def touch(self, paths: Iterable[str]) -> None:
        """These paths were written just now: who looks at the index next syncs them first, in whichever process."""
        self._announced.add(paths)

    def current(self) -> Snapshot:
        """What the vault holds, with all that was written through cogvault, by whichever process."""
        if self._is_of_others:
            self.look()
        else:
            self._settle(self._follow)
        return self._index().snapshot()

    def fresh(self) -> Snapshot:
        """What the vault holds, after ``look`` and, for a broken index, ``mend``."""
        self.look()
        snapshot = self._index().snapshot()
        return self._index().snapshot() if self.is_broken(snapshot) and self.mend(snapshot) else snapshot

    def retried(self) -> Snapshot:
        """As ``current``, after another look when the last one failed: what kept it from looking may be over. A watcher
        tries again by itself."""
        if str(self._lag) and not (self._watcher is not None and self._watcher.is_running):
            self.look()
        return self.current()

    def look(self) -> None:
        """Look for changed files when the last look is old enough, of this process or, if asked since, of another.

        A watcher that is told of changes looks by itself, so that no search has to; its first look is waited for, but
        not for long.
        """
        watcher = self._watcher
        if watcher is not None and watcher.is_running and not watcher.wait(FIRST_LOOK_SECONDS):
            return
        with self._lock:  # who opens a vault, or comes back to it, expects what was saved just before
            now = time.monotonic()
            is_asked_often, self._asked = now - self._asked < self._config.refresh_seconds, now
        is_seen = self._is_watched or self._is_recent or (is_asked_often and self._is_looked_at())
        if is_seen and not self._is_of_others:
            self._settle(self._follow)
        elif not self._is_lost(self._index().snapshot()):  # else that would fill it, and whoever waits is better told
            self._settle(self._look_when_due, is_whole=True)

    def _look_when_due(self, paths: set[str]) -> bool:
        """Look everywhere, unless another thread did while this one waited for its turn."""
        is_recent = self._is_recent and not self._is_of_others
        return (is_recent and not paths) or self._follow(paths, is_whole=not is_recent)

    def mend(self, snapshot: Snapshot) -> bool:
        """Have a broken index made whole; False = that was begun before, or goes on for longer than can be waited for.

        What was there once is made anew beside those who search; only a new index is waited for.
        """
        if snapshot.stats.fault or self._is_lost(snapshot):
            return self.repairs.begin(FIRST_LOOK_SECONDS)
        self._settle(partial(self._follow, is_whole=True), is_whole=True)
        return True

    def known(self) -> Snapshot:
        """What the index holds now: nobody is waited for and no vectors are made.

        The files are looked at by the first call only, and only when nothing else has looked yet.
        """
        with self._lock:
            is_first = not self._is_known and self._checked == float("-inf")
            self._is_known = True
        snapshot = self._index().snapshot()
        if is_first and (snapshot.stats.fault or self._is_lost(snapshot)):
            self.repairs.begin(0)
        elif is_first:
            try:
                self._look(
                    lambda syncer: syncer.sync(embed_limit=0, timeout_seconds=SEARCH_WAIT_SECONDS), is_whole=True
                )
            except CogvaultError as error:
                logger.warning("the files were not looked at: %s", error)
        return self._index().snapshot()

    def latest(self) -> tuple[Snapshot, SyncReport]:
        """What the vault holds, after a look at all files that waits for other writers; without new vectors.

        Raises:
            VaultError: the folder is away, or another sync did not end in time.
            IndexFault: the index could not be written.
        """
        report = self._look(lambda syncer: syncer.sync(embed_limit=0), is_whole=True)
        if report.status is Status.STALE:
            raise VaultError(report.reason, path=self._path, hint=report.hint)
        return self._index().snapshot(), report

    def certain(self, *, look: bool = True) -> Snapshot:
        """What the vault holds, for an answer that cannot say how good it is: never of an index that is not complete,
        or that is known to lag behind the files, which is then brought up to date first.

        Args:
            look: look for changed files as ``fresh`` does; False = only take in what was written through cogvault.

        Raises:
            VaultError: as ``latest``.
            IndexFault: as ``latest``.
        """
        here = root_id(self._path)
        snapshot = self.fresh() if look else self.current()
        is_other = LastSync(self._options.notes_folder).root() not in (None, here)
        return self.latest()[0] if is_other or self.stale(snapshot) else snapshot

    def watch(self) -> Watcher:
        """A watcher of this vault; see ``Vault.watch``."""
        if self._watcher is not None and self._watcher.is_running:
            raise VaultError("the vault is watched already", path=self._path, hint="use that watcher's reports(stop)")
        self._index()  # before a watcher's threads, whose memory is then shared with those of the index
        self._watcher = Watcher(self._path, self._options.scan, self._sync_batch)
        return self._watcher

    def state(self, snapshot: Snapshot) -> State:
        """How well the vault is."""
        if str(self._lag) or self._is_lost(snapshot):
            return State(Status.STALE, self.stale(snapshot), SYNC_HINT)
        trouble, place = self.trouble, self._resources.place
        state = index_state(snapshot.stats, place, is_recursive=self._config.recursive)
        if state is None and not self._is_keyword_only:
            state = model_state(snapshot.stats, self._embedder(), trouble)
        if state is None and not (self.report is not None and self.report.pending_vectors):
            state = trouble
        return state or watched_state(self._watcher) or State(Status.OK)

    @property
    def _is_recent(self) -> bool:
        """True while the last look at all files is good."""
        return time.monotonic() - self._checked < self._config.refresh_seconds

    @property
    def _is_of_others(self) -> bool:
        """True when another process, with other settings, made the index hold other cards than this vault's."""
        return self._resources.made_with.is_others

    @property
    def _is_watched(self) -> bool:
        watcher = self._watcher
        if watcher is None or not watcher.is_running or watcher.mode != "events" or watcher.last_report is None:
            return False
        return watcher.status is Status.OK

    def _is_looked_at(self) -> bool:
        """Rely on another process that looked at all files within ``refresh_seconds``; False = none did."""
        try:
            age = self._syncer().looked_seconds()
        except CogvaultError:  # which a look of this process meets again, and tells
            return False
        if age is None or age >= self._config.refresh_seconds:
            return False
        self._checked = time.monotonic() - age
        self._lag.keep("", is_whole=True)
        self.report = None  # what that look could not do is kept in the index folder
        if (
            not self._is_keyword_only
            and model_state(self._index().snapshot().stats, self._embedder(), None) is not None
        ):
            self._follow(set())  # embeds, unless another process does
        return True

    def _is_lost(self, snapshot: Snapshot) -> bool:
        return is_lost(snapshot, self._options.notes_folder)

    def _repair(self, go_on: Callable[[], None]) -> None:
        """Make the index whole: what can be made from the rest of it, then what only the files tell."""

        def progress(_: SyncProgress) -> None:
            go_on()

        if self._syncer().repair(SEARCH_WAIT_SECONDS, progress):
            self._settle(partial(self._follow, is_whole=True, progress=progress), is_whole=True)

    def _settle(self, look: Callable[[set[str]], bool], *, is_whole: bool = False) -> None:
        """Have looked at what has to be; an answer that does without says so, until the next look is done."""
        is_done = self._announced.settle(look, FIRST_LOOK_SECONDS, is_whole=is_whole)
        if not (is_done or (is_whole and self._is_recent)):  # else it ended in time, and measures the floor
            self._lag.miss("another look at the files did not end in time", is_whole=is_whole)

    def _follow(self, paths: set[str], *, is_whole: bool = False, progress: Progress | None = None) -> bool:
        """Look for changes in these paths, which were written, or everywhere; a failure (False) makes the answer stale,
        never wrong."""
        began = time.monotonic()
        is_late = paths <= self._awaited  # as while another process fills the index
        try:
            try:
                report = self._look(
                    lambda syncer: syncer.sync(
                        paths=None if is_whole else paths,
                        progress=progress,
                        embed_limit=SEARCH_EMBEDS,
                        timeout_seconds=SEARCH_WAIT_SECONDS if is_late else FIRST_LOOK_SECONDS,
                        embed_wait_seconds=0,
                    ),
                    is_whole=is_whole,
                )
            finally:
                if is_whole:  # not before it has ended: who asks meanwhile waits for it
                    self._checked = began
            if report.is_changed:
                self._measure(SEARCH_WAIT_SECONDS)  # or the same files would score otherwise after a sync
        except CogvaultError:  # the answer's status says it
            return False
        if is_whole:
            self.report = report
        is_done = report.status is not Status.STALE
        self._awaited = set() if is_done else self._awaited | paths
        return is_done

    def _sync_batch(self, batch: Batch, progress: Progress) -> SyncReport:
        report = self._look(lambda syncer: sync_batch(syncer, batch, progress), is_whole=batch is None)
        now = time.monotonic()
        if report.is_changed:
            self._changed = now
        is_quiet = batch is None and now - self._changed > QUIET_SECONDS
        if is_quiet or not self._index().snapshot().stats.identity.measured:
            self._measure()
        if batch is None or report.failed:
            self.report = report
        if batch is None:
            self._at_rest()
        return report

    def _look(self, sync: Callable[[Syncer], SyncReport], *, is_whole: bool) -> SyncReport:
        try:
            report = sync(self._syncer())
        except CogvaultError as error:
            self._lag.keep(f"changes were not looked for: {error}", is_whole=is_whole)
            raise
        self._moved(report.moved)
        self._lag.keep(report.reason if report.status is Status.STALE else "", is_whole=is_whole)
        return report
