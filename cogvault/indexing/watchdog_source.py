"""The operating system as the source of events, by watchdog. Import this late: it is needed by watchers only."""

from __future__ import annotations

import errno
import os
import time
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
# A folder is modified whenever something in it is, which has an event of its own. Its attributes say who may look.
_FOLDER_KINDS = frozenset(("attrib", "created", "deleted", "moved"))
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
        self._started = 0.0
        self._observer: BaseObserver | None = None
        self._handler: _Handler | None = None
        # The folder whose folders are watched too.
        self._above: Path | None = None

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        """Begin to tell.

        Raises:
            OSError: no more watches or instances (ENOSPC, EMFILE), or a file system that has none, or not for what
                other machines do.
        """
        file_system = file_system_of(root.resolve(), mounts_text())
        if is_network(file_system):
            raise OSError(errno.EOPNOTSUPP, f"{file_system} is a network file system")
        handler = _Handler(tell)
        observer = _started(root, recursive, handler)
        if recursive:
            try:
                _watch_one_more(root)
            except OSError:
                _end(observer)
                raise
        self._observer, self._handler, self._above = observer, handler, root if recursive else None
        self._started = time.monotonic()

    @property
    def is_complete(self) -> bool:
        """False when folders may not be watched, as they were made since or could not be looked into before, or when an
        observer's thread has ended."""
        if self._observer is None or self._handler is None:
            return True
        # Folders' times are set too, and starting again takes a look at everything.
        if self._handler.has_attributes and time.monotonic() - self._started >= self.rescan_seconds:
            return False
        try:
            if self._handler.took_folders() and self._above is not None:
                _watch_one_more(self._above)
        except FileNotFoundError:  # away, which is noticed otherwise
            return True
        except OSError:
            return False
        return all(thread.is_alive() for thread in (self._observer, *self._observer.emitters))

    def stop(self) -> None:
        """End the observer's threads."""
        if self._observer is not None:
            _end(self._observer)
            self._observer = None


class _Handler(FileSystemEventHandler):
    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._count = 0
        self._has_folders = False
        self.has_attributes = False  # a folder got other ones

    def took_folders(self) -> bool:
        """Whether a folder came or moved since this was asked last."""
        had, self._has_folders = self._has_folders, False
        return had

    def dispatch(self, event: FileSystemEvent) -> None:
        self._count += 1
        if self._count % _FLOOD == 0:
            self._tell(None)
        if event.event_type not in (_FOLDER_KINDS if event.is_directory else _KINDS):
            return
        self._has_folders |= event.is_directory and event.event_type in ("created", "moved")
        self.has_attributes |= event.is_directory and event.event_type == "attrib"
        for name in (event.src_path, event.dest_path):
            if name:
                path = Path(os.fsdecode(name))
                # Windows does not say what a deleted thing was.
                self._tell(path, event.is_directory or (event.event_type == "deleted" and not path.suffix))


def _watch_one_more(root: Path) -> None:
    """Folders that cannot be watched are passed over without a word; if some were, one more cannot be.

    Raises:
        OSError: it cannot be.
    """
    _end(_started(root, False, FileSystemEventHandler()))


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
