"""The operating system as the source of events, by watchdog. Import this late: it is needed by watchers only."""

from __future__ import annotations

import os
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from cogvault.indexing.events import Mode, Tell

__all__ = ["WatchdogSource"]

# Reading a file opens and closes it: such events are left out, or a sync would wake the next one.
_KINDS = frozenset(("attrib", "closed", "created", "deleted", "modified", "moved"))
# A folder is modified whenever something in it is, which has an event of its own.
_FOLDER_KINDS = frozenset(("created", "deleted", "moved"))


class WatchdogSource:
    """Tells what inotify, FSEvents, kqueue or Windows tell.

    Args:
        rescan_seconds: how often to look nevertheless: the system's queue overflows without a word, and changes that
            other machines make in a shared folder have no events here.
    """

    mode: Mode = "events"

    def __init__(self, rescan_seconds: float = 60.0) -> None:
        self.rescan_seconds = rescan_seconds
        self._observer: BaseObserver | None = None

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        """Begin to tell.

        Raises:
            OSError: no more watches or instances (ENOSPC, EMFILE), or the file system has none.
        """
        observer = Observer()
        observer.schedule(_Handler(tell), str(root), recursive=recursive)
        observer.start()
        self._observer = observer

    def stop(self) -> None:
        """End the observer's threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None


class _Handler(FileSystemEventHandler):
    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.event_type not in (_FOLDER_KINDS if event.is_directory else _KINDS):
            return
        for name in (event.src_path, event.dest_path):
            if name:
                path = Path(os.fsdecode(name))
                # Windows does not say what a deleted thing was.
                self._tell(path, event.is_directory or (event.event_type == "deleted" and not path.suffix))
