"""Keep an index equal to the files while they change: events are hints of where to look, the disk decides."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from cogvault.cards.addresses import DIMENSIONS
from cogvault.errors import CogvaultError
from cogvault.indexing.debounce import Batch, Debouncer
from cogvault.indexing.events import EventSource, Mode, PollingSource, not_ignored, wakes
from cogvault.indexing.report import Progress, SyncProgress, SyncReport
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.state import State
from cogvault.indexing.sync import Syncer
from cogvault.types import Status

__all__ = ["SyncPaths", "Watcher", "sync_batch"]

logger = logging.getLogger(__name__)

# As sync_batch does.
SyncPaths: TypeAlias = Callable[[Batch, Progress], SyncReport]

# Device and inode of the root and whether folders of it are watched too, None when it is away.
_Place: TypeAlias = tuple[int, int, bool] | None

_POLLING_HINT = "raise the limits (sysctl fs.inotify.max_user_watches, ulimit -n), or leave it so"

_RETRY_SECONDS = 5.0
# Vectors are made in portions of so many chunks, and another process that makes them is waited for so long: meanwhile
# no edit is taken.
_PORTION = 32
_PORTION_WAIT_SECONDS = 1.0
# Looking at everything takes at most this share of the time, however large the vault is.
_SCAN_SHARE = 0.1
_KEPT_ERRORS = 20
_STOP_CHECK_SECONDS = 0.1
# A folder that is moved away, unmounted or put back sends no event.
_ROOT_CHECK_SECONDS = 2.0
_BAD = (Status.FAILED, Status.STALE)


class Watcher:
    """Watches a vault as long as a ``with`` block lasts. Its attributes may be read from any thread.

    Args:
        root: the vault.
        scan: which files belong to it.
        sync: makes the index equal to some paths; called from one thread, one call at a time.
        source: where hints come from; None = the operating system. Asked again when the root was away.
        hints: how they are gathered.

    Attributes:
        mode: ``events``, or ``polling`` where the system cannot watch.
        last_report: of the last sync, None before the first.
        events: hints so far that concern the vault.
    """

    def __init__(
        self,
        root: Path,
        scan: ScanOptions,
        sync: SyncPaths,
        *,
        source: EventSource | None = None,
        hints: Debouncer | None = None,
    ) -> None:
        self._root = root
        self._scan = scan
        self._sync = sync
        self._wanted = self._source = source or _system()
        self._hints = Debouncer() if hints is None else hints
        self._watched: _Place = None
        self._polling = ""
        self._wake = threading.Condition()
        self._stopping = False
        self._rescan_at = 0.0  # the first sync looks at everything, at once
        self._unfinished = False
        self._errors: deque[str] = deque(maxlen=_KEPT_ERRORS)
        self._listeners: list[queue.SimpleQueue[SyncReport]] = []
        self._thread = threading.Thread(target=self._run, name="cogvault-watch", daemon=True)
        self.mode: Mode = "events"
        self.last_report: SyncReport | None = None
        self.events = 0

    def __enter__(self) -> Watcher:
        self._rewatch(_place_of(self._root, self._scan))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong, oldest first; the last 20."""
        return tuple(self._errors)

    @property
    def status(self) -> Status:
        """``ok``; ``failed`` or ``stale``: as the last sync, which is tried again; ``degraded``: it polls."""
        return self._state().status

    @property
    def reason(self) -> str:
        """Why the status is not ``ok``, "" when it is."""
        return self._state().reason

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self._state().hint

    @property
    def queued(self) -> int:
        """Hints that wait for the next sync."""
        return len(self._hints)

    @property
    def is_running(self) -> bool:
        """True between the begin and the end of the ``with`` block."""
        return self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the first sync to end, but not longer than this; False when it has not."""
        with self._wake:
            return self._wake.wait_for(lambda: self._stopping or self.last_report is not None, seconds)

    def close(self) -> None:
        """Stop watching; a sync that is running is cut short at its next step. Calling it twice does nothing."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def reports(self, stop: threading.Event) -> Iterator[SyncReport]:
        """Reports as they come: the latest one first, then those that changed the index or could not.

        Args:
            stop: ends the iteration when set. It also ends when the watcher is closed.
        """
        reports: queue.SimpleQueue[SyncReport] = queue.SimpleQueue()
        with self._wake:
            self._listeners.append(reports)
            if self.last_report is not None:
                reports.put(self.last_report)
        try:
            while not stop.is_set() and not self._stopping:
                try:
                    yield reports.get(timeout=_STOP_CHECK_SECONDS)
                except queue.Empty:
                    continue
        finally:
            with self._wake:
                self._listeners.remove(reports)

    def _state(self) -> State:
        report = self.last_report
        if report is not None and report.status in _BAD:
            return State(report.status, report.reason, report.hint)
        return State(Status.DEGRADED, self._polling, _POLLING_HINT) if self._polling else State(Status.OK)

    def _rewatch(self, place: _Place) -> None:
        """Watch the folder that is at the root's place now, None = there is none."""
        self._source.stop()
        self._watched, self._polling, self._source = None, "", self._wanted
        if place is None:
            return
        try:
            self._source.start(self._root, place[2], self._tell)
        except FileNotFoundError:  # away again
            return
        except OSError as error:
            why = error.strerror or str(error)
            self._polling = f"files are looked at every few seconds, as the system cannot watch them: {why}"
            logger.warning("%s: %s", self._root, self._polling)
            self._source = PollingSource()
        self._watched, self.mode = place, self._source.mode

    def _tell(self, path: Path | None, is_folder: bool = False) -> None:
        if path is not None:
            if not path.is_relative_to(self._root):
                return
            inner = "" if path == self._root else path.relative_to(self._root).as_posix()
            if not wakes(inner, is_folder, self._scan.walks(f"{inner}/")):
                return
        with self._wake:
            self.events += 1
            self._hints.add(path, time.monotonic())
            self._wake.notify_all()

    def _run(self) -> None:
        try:
            while not self._stopping:
                self._step(self._next())
        except _Stopped:
            pass
        finally:
            self._source.stop()

    def _next(self) -> Batch:
        """Wait until there is something to do, or a while; then no path is asked for."""
        with self._wake:
            now = time.monotonic()
            end = min(now + _ROOT_CHECK_SECONDS, self._rescan_at)
            while not self._stopping and not self._unfinished and now < end and self._hints.wait_seconds(now):
                self._wake.wait(min(end - now, self._hints.wait_seconds(now)))
                now = time.monotonic()
            if now >= self._rescan_at:
                self._hints.take()
                return None
            return frozenset() if self._hints.wait_seconds(now) else self._hints.take()

    def _step(self, batch: Batch) -> None:
        place = _place_of(self._root, self._scan)
        if place != self._watched or not self._source.is_complete:
            self._rewatch(place)
            batch = None
        elif batch and self._root not in batch:
            batch = not_ignored(self._root, self._scan, batch)
        if not self._stopping and (batch is None or batch or self._unfinished):
            self._settle(batch, self._report(batch))

    def _report(self, batch: Batch) -> SyncReport:
        try:
            return self._sync(batch, self._go_on)
        except _Stopped:
            raise
        except CogvaultError as error:
            return SyncReport(status=Status.FAILED, reason=str(error), hint=error.hint or "")
        except Exception as error:  # a thread that ends would leave the index stale without a word
            logger.exception("%s: a sync failed", self._root)
            reason = f"{type(error).__name__}: {error}"
            return SyncReport(status=Status.FAILED, reason=reason, hint="it is tried again every few seconds")

    def _go_on(self, _: SyncProgress) -> None:
        if self._stopping:
            raise _Stopped

    def _settle(self, batch: Batch, report: SyncReport) -> None:
        """Keep and hand on the report, and decide when to look at everything again."""
        now = time.monotonic()
        is_bad = report.status in _BAD
        if is_bad:
            self._rescan_at = now + _RETRY_SECONDS
        elif batch is None:
            self._rescan_at = now + max(self._source.rescan_seconds, report.seconds / _SCAN_SHARE)
        # Vectors are made in portions, so that an edit meanwhile is soon found by keyword.
        self._unfinished = not is_bad and bool(report.pending_vectors and (report.embedded or batch != frozenset()))
        with self._wake:
            last, self.last_report = self.last_report, report
            self._wake.notify_all()
            was_bad = last is not None and last.status in _BAD
            is_new_error = bool(report.reason) and (report.reason not in self._errors or (is_bad and not was_bad))
            if is_new_error:
                logger.warning("%s: %s", self._root, report.reason)
                self._errors.append(report.reason)
            if last is None or report.is_changed or is_new_error or is_bad != was_bad:
                for listener in self._listeners:
                    listener.put(report)


def sync_batch(syncer: Syncer, batch: Batch, progress: Progress) -> SyncReport:
    """Sync without vectors; given no path, make a portion of the vectors that are missing.

    Both limit the vectors, so that no language model is asked for layers: that would hold up edits for minutes.

    Args:
        syncer: of the vault.
        batch: what may have changed, None = anything.
        progress: an exception of it ends the sync.

    Raises:
        VaultError: the vault is away.
        IndexFault: the index could not be written.
    """
    if batch is None or batch:
        return syncer.sync(paths=batch, embed_limit=0, progress=progress)
    return syncer.sync(paths=(), embed_limit=_PORTION, progress=progress, timeout_seconds=_PORTION_WAIT_SECONDS)


class _Stopped(Exception):
    """Ends a sync that nobody waits for any more."""


def _place_of(root: Path, options: ScanOptions) -> _Place:
    try:
        status = root.stat()
        walked = options.recursive or any((root / name).is_dir() for name in DIMENSIONS)
    except OSError:
        return None
    return status.st_dev, status.st_ino, walked


def _system() -> EventSource:
    from cogvault.indexing.watchdog_source import WatchdogSource

    return WatchdogSource()
