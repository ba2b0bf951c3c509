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

from cogvault.errors import CogvaultError
from cogvault.indexing.debounce import Batch, Debouncer
from cogvault.indexing.events import EventSource, Mode, PollingSource, not_ignored, wakes
from cogvault.indexing.report import SyncReport
from cogvault.indexing.scan import ScanOptions
from cogvault.types import Status

__all__ = ["WATCH_HINT", "SyncPaths", "Watcher"]

logger = logging.getLogger(__name__)

# Syncs these paths (None = all; none = only vectors that are missing) and embeds a bounded number of chunks.
SyncPaths: TypeAlias = Callable[[Batch], SyncReport]

WATCH_HINT = "raise the limits (sysctl fs.inotify.max_user_watches, ulimit -n), or leave it so"

_RETRY_SECONDS = 5.0
# Looking at everything takes at most this share of the time, however large the vault is.
_SCAN_SHARE = 0.1
_KEPT_ERRORS = 20
_STOP_CHECK_SECONDS = 0.1
_BAD = (Status.FAILED, Status.STALE)


class Watcher:
    """Watches a vault as long as a ``with`` block lasts. Its attributes may be read from any thread.

    Args:
        root: the vault.
        scan: which files belong to it.
        sync: makes the index equal to some paths; called from one thread, one call at a time.
        source: where hints come from; None = the operating system.
        hints: how they are gathered.

    Attributes:
        mode: ``events``, or ``polling`` where the system cannot watch.
        reason: why it polls, "" when it does not.
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
        self._source = source or _system()
        self._hints = Debouncer() if hints is None else hints
        self._wake = threading.Condition()
        self._stopping = False
        self._rescan_at = 0.0  # the first sync looks at everything, at once
        self._unfinished = False
        self._errors: deque[str] = deque(maxlen=_KEPT_ERRORS)
        self._listeners: list[queue.SimpleQueue[SyncReport]] = []
        self._thread = threading.Thread(target=self._run, name="cogvault-watch", daemon=True)
        self.mode: Mode = "events"
        self.reason = ""
        self.last_report: SyncReport | None = None
        self.events = 0

    def __enter__(self) -> Watcher:
        self._start_source()
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
    def queued(self) -> int:
        """Hints that wait for the next sync."""
        return len(self._hints)

    @property
    def is_running(self) -> bool:
        """True between the begin and the end of the ``with`` block."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop watching; a sync that is running is waited for. Calling it twice does nothing."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._source.stop()
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

    def _start_source(self) -> None:
        try:
            self._source.start(self._root, self._scan.recursive, self._tell)
        except OSError as error:
            self.reason = f"files are looked at every few seconds, as the system cannot watch them: {error.strerror}"
            logger.warning("%s: %s", self._root, self.reason)
            self._source = PollingSource()
        self.mode = self._source.mode

    def _tell(self, path: Path | None, is_folder: bool = False) -> None:
        if path is not None:
            if not path.is_relative_to(self._root):
                return
            inner = "" if path == self._root else path.relative_to(self._root).as_posix()
            if not wakes(inner, is_folder, self._scan.recursive):
                return
        with self._wake:
            self.events += 1
            self._hints.add(path, time.monotonic())
            self._wake.notify_all()

    def _run(self) -> None:
        while True:
            batch = self._next()
            if self._stopping:
                return
            if batch:
                batch = self._relevant(batch)
                if not batch:
                    continue
            self._settle(batch, self._report(batch))

    def _next(self) -> Batch:
        """Wait until there is something to do."""
        with self._wake:
            while not self._stopping:
                now = time.monotonic()
                if now >= self._rescan_at:
                    self._hints.take()
                    return None
                wait_seconds = self._hints.wait_seconds(now)
                if not wait_seconds:
                    return self._hints.take()
                if self._unfinished:
                    break
                self._wake.wait(min(wait_seconds, self._rescan_at - now))
            return frozenset()

    def _relevant(self, batch: frozenset[Path]) -> Batch:
        return batch if self._root in batch else not_ignored(self._root, self._scan, batch)

    def _report(self, batch: Batch) -> SyncReport:
        try:
            return self._sync(batch)
        except CogvaultError as error:
            return SyncReport(status=Status.FAILED, reason=str(error), hint=error.hint or "")
        except OSError as error:
            return SyncReport(status=Status.FAILED, reason=str(error), hint="free what is missing; it is tried again")

    def _settle(self, batch: Batch, report: SyncReport) -> None:
        """Keep and hand on the report, and decide when to look at everything again."""
        now = time.monotonic()
        is_bad = report.status in _BAD
        if is_bad:
            logger.warning("%s: %s", self._root, report.reason)
            self._rescan_at = now + _RETRY_SECONDS
        elif batch is None:
            self._rescan_at = now + max(self._source.rescan_seconds, report.seconds / _SCAN_SHARE)
        # Vectors are made in portions, so that an edit meanwhile is soon found by keyword.
        self._unfinished = bool(report.embedded and report.pending_vectors) and not is_bad
        with self._wake:
            last, self.last_report = self.last_report, report
            is_news = report.reason != last.reason if last and is_bad else True
            if is_bad and is_news:
                self._errors.append(report.reason)
            if last is None or report.is_changed or (is_bad and is_news):
                for listener in self._listeners:
                    listener.put(report)


def _system() -> EventSource:
    from cogvault.indexing.watchdog_source import WatchdogSource

    return WatchdogSource()
