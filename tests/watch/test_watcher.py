"""The watcher with a source that tells what a test says: order, overflow, faults."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cogvault.errors import VaultError
from cogvault.indexing.debounce import Batch, Debouncer
from cogvault.indexing.events import Mode, PollingSource, Tell
from cogvault.indexing.report import Progress, SyncProgress, SyncReport
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.watching import Watcher
from cogvault.types import Status
from tests.watch.conftest import wait_until


class FakeSource:
    mode: Mode = "events"
    is_complete = True

    def __init__(self, fails: OSError | None = None, rescan_seconds: float = 1000.0) -> None:
        self.rescan_seconds = rescan_seconds
        self.fails = fails
        self.tell: Tell
        self.is_stopped = False
        self.starts = 0

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        self.starts += 1
        if self.fails is not None:
            raise self.fails
        self.tell = tell

    def stop(self) -> None:
        self.is_stopped = True


class Recorder:
    """A sync that notes what it was asked to look at."""

    def __init__(self, answer: Callable[[Batch], SyncReport] = lambda _: SyncReport()) -> None:
        self.batches: list[Batch] = []
        self.answer = answer

    def __call__(self, batch: Batch, progress: Progress) -> SyncReport:
        self.batches.append(batch)
        return self.answer(batch)


def watcher_of(folder: Path, sync: Recorder, source: FakeSource, most: int = 4096) -> Watcher:
    hints = Debouncer(quiet_seconds=0.05, longest_seconds=0.5, most=most)
    return Watcher(folder, ScanOptions(recursive=True, ignore=("drafts/",)), sync, source=source, hints=hints)


def test_first_sync_looks_at_everything_then_only_at_hints(folder: Path) -> None:
    sync, source = Recorder(), FakeSource()
    with watcher_of(folder, sync, source) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        source.tell(folder / "a.md")
        source.tell(folder / "b", is_folder=True)
        wait_until(lambda: len(sync.batches) == 2, "second sync")
    assert sync.batches == [None, {folder / "a.md", folder / "b"}]
    assert source.is_stopped
    assert not watcher.is_running


def test_overflow_looks_at_everything(folder: Path) -> None:
    source = FakeSource()

    def flood(_: Batch) -> SyncReport:
        if len(sync.batches) == 1:
            for number in range(20):
                source.tell(folder / f"{number}.md")
        return SyncReport()

    sync = Recorder(flood)
    with watcher_of(folder, sync, source, most=10):
        wait_until(lambda: len(sync.batches) > 1, "second sync")
    assert sync.batches[:2] == [None, None]


def test_a_source_that_lost_track_makes_everything_be_looked_at(folder: Path) -> None:
    sync, source = Recorder(), FakeSource()
    with watcher_of(folder, sync, source) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        source.tell(None)
        wait_until(lambda: len(sync.batches) == 2, "second sync")
    assert sync.batches == [None, None]


def test_scratch_hidden_ignored_and_foreign_files_wake_nothing(folder: Path) -> None:
    sync, source = Recorder(), FakeSource()
    with watcher_of(folder, sync, source) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        for name in ("n.md~", ".git/n.md", "n.tmp", "drafts/n.md", "../elsewhere/n.md"):
            source.tell((folder / name).resolve())
        wait_until(lambda: watcher.events == 1 and not watcher.queued, "the hint of the draft is dropped")
        source.tell(folder / "a.md")
        wait_until(lambda: len(sync.batches) == 2, "second sync")
    assert sync.batches == [None, {folder / "a.md"}]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_watches_the_vault_is_polled(folder: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexing.watching.PollingSource", lambda: PollingSource(rescan_seconds=0.05))
    sync = Recorder()
    with watcher_of(folder, sync, FakeSource(fails=OSError(number, "no more of them"))) as watcher:
        wait_until(lambda: len(sync.batches) >= 3, "polling")
        assert (watcher.mode, watcher.status) == ("polling", Status.DEGRADED)
        assert "no more of them" in watcher.reason
        assert "max_user_watches" in watcher.hint
    assert set(sync.batches) == {None}


def test_a_source_that_lost_track_of_folders_is_started_again_or_the_vault_is_polled(folder: Path) -> None:
    sync, source = Recorder(), FakeSource()
    with watcher_of(folder, sync, source) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        source.fails, source.is_complete = OSError(errno.ENOSPC, "no more of them"), False
        source.tell(folder / "new", True)
        wait_until(lambda: watcher.mode == "polling", "polling")
        wait_until(lambda: len(sync.batches) >= 2, "a look at everything")
        assert "no more of them" in watcher.reason
    assert set(sync.batches) == {None}


def test_everything_is_looked_at_again_after_a_while_without_events(folder: Path) -> None:
    sync = Recorder()
    with watcher_of(folder, sync, FakeSource(rescan_seconds=0.05)):
        wait_until(lambda: len(sync.batches) >= 3, "scans without events")


def test_a_failed_sync_is_told_once_and_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexing.watching._RETRY_SECONDS", 0.02)

    def fail(_: Batch) -> SyncReport:
        if len(sync.batches) < 4:
            raise VaultError("the folder is away", hint="bring it back")
        return SyncReport(added=("a.md",))

    sync, stop, seen = Recorder(fail), threading.Event(), list[SyncReport]()
    with watcher_of(folder, sync, FakeSource()) as watcher:
        for report in watcher.reports(stop):
            seen.append(report)
            assert watcher.status in (Status.FAILED, report.status)
            if report.added:
                stop.set()
        assert watcher.errors == ("the folder is away (bring it back)",)
    assert [report.status for report in seen] == [Status.FAILED, Status.OK]


def test_what_nobody_foresaw_is_told_and_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexing.watching._RETRY_SECONDS", 0.02)

    def fail(_: Batch) -> SyncReport:
        if len(sync.batches) == 1:
            raise ZeroDivisionError("by nought")
        return SyncReport()

    sync = Recorder(fail)
    with watcher_of(folder, sync, FakeSource()) as watcher:
        wait_until(lambda: len(sync.batches) > 1 and watcher.status is Status.OK, "a sync that works")
        assert watcher.errors == ("ZeroDivisionError: by nought",)


def test_a_root_that_was_away_is_watched_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexing.watching._ROOT_CHECK_SECONDS", 0.02)
    monkeypatch.setattr("cogvault.indexing.watching._RETRY_SECONDS", 0.05)
    stop, source = threading.Event(), FakeSource()

    def sync_if_there(_: Batch) -> SyncReport:
        if not folder.exists():
            raise VaultError("the folder is away")
        return SyncReport()

    sync, seen = Recorder(sync_if_there), list[Status]()
    with watcher_of(folder, sync, source) as watcher:
        for report in watcher.reports(stop):
            seen.append(report.status)
            if len(seen) == 1:
                folder.rename(folder.with_name("away"))
            elif len(seen) == 2:
                folder.mkdir()
            else:
                stop.set()
        assert watcher.errors == ("the folder is away",)
    assert seen == [Status.OK, Status.FAILED, Status.OK]
    assert source.starts == 2
    assert set(sync.batches) == {None}


def test_a_long_sync_is_cut_short_by_the_end(folder: Path) -> None:
    class Endless:
        def __call__(self, batch: Batch, progress: Progress) -> SyncReport:
            began.set()
            while True:
                progress(SyncProgress("keyword", 0, 1, 0.0))

    began = threading.Event()
    with Watcher(folder, ScanOptions(), Endless(), source=FakeSource()) as watcher:
        assert began.wait(20)
    assert not watcher.is_running
    assert watcher.errors == ()


def test_vectors_are_made_in_portions_between_which_edits_are_taken(folder: Path) -> None:
    source = FakeSource()

    def portion(batch: Batch) -> SyncReport:
        if len(sync.batches) == 1:
            source.tell(folder / "edit.md")
        return SyncReport(embedded=1, pending_vectors=0 if folder / "edit.md" in (batch or ()) else 5)

    sync = Recorder(portion)
    with watcher_of(folder, sync, source):
        wait_until(lambda: sync.batches and folder / "edit.md" in (sync.batches[-1] or ()), "the edit")
    assert sync.batches[0] is None
    assert set(sync.batches[1:-1]) == {frozenset()}


def test_reports_end_when_stopped_and_when_closed(folder: Path) -> None:
    stop = threading.Event()
    with watcher_of(folder, Recorder(), FakeSource()) as watcher:
        reports = watcher.reports(stop)
        assert next(reports).status is Status.OK
        stop.set()
        assert list(reports) == []
    assert list(watcher.reports(threading.Event())) == []


def test_the_folders_of_addresses_are_watched_in_a_flat_vault_as_soon_as_there_are_any(folder: Path) -> None:
    class Asked(FakeSource):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[bool] = []

        def start(self, root: Path, recursive: bool, tell: Tell) -> None:
            super().start(root, recursive, tell)
            self.asked.append(recursive)

    sync, source = Recorder(), Asked()
    hints = Debouncer(quiet_seconds=0.05, longest_seconds=0.5, most=4096)
    with Watcher(folder, ScanOptions(), sync, source=source, hints=hints) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "user").mkdir()
        source.tell(folder / "other", is_folder=True)
        source.tell(folder / "user", is_folder=True)
        wait_until(lambda: len(sync.batches) == 2, "second sync")
        source.tell(folder / "other" / "a.md")
        source.tell(folder / "user" / "a.md")
        wait_until(lambda: len(sync.batches) == 3, "third sync")
    assert source.asked == [False, True]
    assert sync.batches == [None, None, {folder / "user" / "a.md"}]
