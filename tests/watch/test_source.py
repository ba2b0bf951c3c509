"""The system as a source, and when it is none."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path

import pytest
from watchdog.events import DirModifiedEvent, FileModifiedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from cogvault.config.disks import file_system_of, is_network
from cogvault.indexing import watchdog_source
from cogvault.indexing.watchdog_source import WatchdogSource
from tests.watch.conftest import wait_until

MOUNTS = r"""
31 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 31 0:40 / /srv rw - nfs4 host:/export rw
41 40 0:41 / /srv/local rw - xfs /dev/vdb rw
42 31 0:42 / /my\040notes rw - fuse.sshfs me@host: rw
43 42 0:43 / /my\040notes rw - btrfs /dev/vdc rw
"""


@pytest.mark.parametrize(
    ("folder", "file_system"),
    [("/home/me", "ext4"), ("/srv", "nfs4"), ("/srvx", "ext4"), ("/srv/local/x", "xfs"), ("/my notes/x", "btrfs")],
)
def test_a_folder_lies_on_its_deepest_and_last_mount(folder: str, file_system: str) -> None:
    assert file_system_of(Path(folder), MOUNTS) == file_system


def test_without_mounts_the_file_system_is_unknown() -> None:
    assert file_system_of(Path("/home/me"), "") == ""
    assert not is_network("")


def test_a_network_file_system_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog_source, "mounts_text", lambda: "31 1 0:1 / / rw - nfs4 host:/ rw")
    with pytest.raises(OSError, match="nfs4 is a network file system"):
        WatchdogSource().start(folder, True, lambda path, is_folder=False: None)


def test_folders_that_cannot_all_be_watched_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[object]()

    def one_only() -> object:
        if started:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        started.append(Observer())
        return started[0]

    monkeypatch.setattr(watchdog_source, "Observer", one_only)
    before = threading.active_count()
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        WatchdogSource().start(folder, True, lambda path, is_folder=False: None)
    assert threading.active_count() == before


def test_folders_made_later_that_cannot_be_watched_are_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source, told = WatchdogSource(), list[Path | None]()
    source.start(folder, True, lambda path, is_folder=False: told.append(path))
    try:
        monkeypatch.setattr(watchdog_source, "Observer", none_left)
        (folder / "a.md").write_text("x")
        wait_until(lambda: folder / "a.md" in told, "a file")
        assert source.is_complete  # no folder is new
        (folder / "new").mkdir()
        wait_until(lambda: folder / "new" in told, "a folder")
        assert not source.is_complete
    finally:
        source.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="not every system tells of attributes")
def test_a_folder_that_others_may_look_into_now_is_told_and_watched_before_long(folder: Path) -> None:
    (folder / "sub").mkdir(0o700)
    source, told = WatchdogSource(), list[tuple[Path | None, bool]]()
    source.start(folder, True, lambda path, is_folder=False: told.append((path, is_folder)))
    try:
        (folder / "sub").chmod(0o755)
        wait_until(lambda: (folder / "sub", True) in told, "the folder")
        assert source.is_complete  # it was started just now
        source.rescan_seconds = 0.0
        assert not source.is_complete
        source.stop()
        source.start(folder, True, lambda path, is_folder=False: told.append((path, is_folder)))
        assert source.is_complete
    finally:
        source.stop()


def test_a_source_can_be_started_again_and_leaves_no_thread(folder: Path) -> None:
    before, source, told = threading.active_count(), WatchdogSource(), list[Path | None]()
    for name in ("a.md", "b.md"):
        source.start(folder, True, lambda path, is_folder=False: told.append(path))
        (folder / name).write_text("x")
        wait_until(lambda name=name: folder / name in told, name)  # type: ignore[misc]
        source.stop()
        source.stop()
    assert threading.active_count() == before


def test_a_flood_of_events_of_any_kind_makes_everything_be_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, told = list[FileSystemEventHandler](), list[Path | None]()

    class FakeObserver:
        def schedule(self, handler: FileSystemEventHandler, *_: object, **__: object) -> None:
            handlers.append(handler)

        def start(self) -> None: ...

        def stop(self) -> None: ...

        def join(self) -> None: ...

    monkeypatch.setattr(watchdog_source, "Observer", FakeObserver)
    WatchdogSource().start(folder, False, lambda path, is_folder=False: told.append(path))
    events: list[FileSystemEvent] = [FileModifiedEvent(str(folder / ".git" / "x")), DirModifiedEvent(str(folder))]
    for number in range(9000):
        handlers[0].dispatch(events[number % 2])
    assert told.count(None) == 2
    assert set(told) == {None, folder / ".git" / "x"}
