"""The operating system as the source of events, by watchdog. Import this late: it is needed by watchers only."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from cogvault.config.disks import file_system_of, is_network, mounts_text
from cogvault.indexing.events import Mode, Tell

__all__ = ["WatchdogSource"]

# Reading a file opens and closes it: such events are left out, or a sync would wake the next one. The kernel is told
# by the exact classes; their base class lets through what versions of watchdog name differently ("attrib").
_ASKED: list[type[FileSystemEvent]] = [
    FileSystemEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
]
_KINDS = frozenset(("attrib", "closed", "created", "deleted", "modified", "moved"))
# A folder is modified whenever something in it is, which has an event of its own.
_FOLDER_KINDS = frozenset(("created", "deleted", "moved"))
# The kernel keeps 16,384 events and drops the rest; watchdog does not tell. Then all that were kept come after the
# loss, one or two at a time, so that looking at everything at each of these looks at least once after it.
_FLOOD = 4096


class WatchdogSource:
    """Tells what inotify, FSEvents, kqueue or Windows tell.

    Args:
        rescan_seconds: how often to look nevertheless, for changes without an event.
    """

    mode: Mode = "events"

    def __init__(self, rescan_seconds: float = 60.0) -> None:
        self.rescan_seconds = rescan_seconds
        self._observer: BaseObserver | None = None

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        """Begin to tell.

        Raises:
            OSError: no more watches or instances (ENOSPC, EMFILE), or a file system that has none, or not for what
                other machines do.
        """
        file_system = file_system_of(root.resolve(), mounts_text())
        if is_network(file_system):
            raise OSError(errno.EOPNOTSUPP, f"{file_system} is a network file system")
        observer = _started(root, recursive, _Handler(tell))
        if recursive:
            try:
                # Folders that could not be watched are passed over without a word; if they were, one more cannot be.
                _end(_started(root, False, FileSystemEventHandler()))
            except OSError:
                _end(observer)
                raise
        self._observer = observer

    def stop(self) -> None:
        """End the observer's threads."""
        if self._observer is not None:
            _end(self._observer)
            self._observer = None


class _Handler(FileSystemEventHandler):
    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._count = 0

    def dispatch(self, event: FileSystemEvent) -> None:
        self._count += 1
        if self._count % _FLOOD == 0:
            self._tell(None)
        if event.event_type not in (_FOLDER_KINDS if event.is_directory else _KINDS):
            return
        for name in (event.src_path, event.dest_path):
            if name:
                path = Path(os.fsdecode(name))
                # Windows does not say what a deleted thing was.
                self._tell(path, event.is_directory or (event.event_type == "deleted" and not path.suffix))


def _started(root: Path, recursive: bool, handler: FileSystemEventHandler) -> BaseObserver:
    observer = Observer()
    observer.schedule(handler, str(root), recursive=recursive, event_filter=_ASKED)
    try:
        observer.start()
    except OSError:
        observer.stop()
        raise
    return observer


def _end(observer: BaseObserver) -> None:
    observer.stop()
    observer.join()
