"""What every write into a vault stands on: where it is, what it holds, and the one lock of its writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event, Lock

from cogvault.config import Config
from cogvault.errors import VaultError
from cogvault.indexing.folders import ScanOptions
from cogvault.indexing.last_sync import LastSync
from cogvault.indexing.locking import hold
from cogvault.indexing.report import SyncReport
from cogvault.indexing.scan import root_id
from cogvault.lifecycle.leftovers import clear_leftovers
from cogvault.protocols import CardParser, Snapshot
from cogvault.retrieval.succession import SharedGraph
from cogvault.retrieval.turns import Turns
from cogvault.types import Card

__all__ = ["Workspace"]

_WRITE_LOCK = "write.lock"


@dataclass(frozen=True, slots=True)
class Workspace:
    """A vault to write into.

    Attributes:
        root: the vault's folder.
        config: its settings.
        parser: bytes to cards, as sync reads them.
        index_folder: the vault's own folder outside of it, for locks.
        notes_folder: where what is known of its last sync is kept.
        state_folder: the vault's own folder for what cannot be rebuilt from the files (use counts).
        fresh: what the vault holds; files that were announced by ``wrote`` are in it.
        latest: the same after a look at all files, which waits for other writers, and what the look found; raises when
            it cannot be had.
        wrote: tells that these paths (relative to the root) were written, moved or removed just now, so that the next
            answer of this process knows; it does not wait for the index.
        forget_text: drops what the machine keeps of a card's text, as it was in the file that is gone.
        clock: the current instant, timezone-aware.
        turns: of the threads that look for cards that are alike; these are apart from those of searches, for which no
            writer waits.
        links: which card a link means.
        cleared: set once what killed writers left was taken away, which the first write does.
        threads: held by the thread that writes: among threads it wakes the next at once, where a lock file is polled.
    """

    root: Path
    config: Config
    parser: CardParser
    index_folder: Path
    notes_folder: Path
    state_folder: Path
    fresh: Callable[[], Snapshot]
    latest: Callable[[], tuple[Snapshot, SyncReport]]
    wrote: Callable[[Iterable[str]], None]
    forget_text: Callable[[Card], None]
    clock: Callable[[], datetime]
    turns: Turns = field(default_factory=lambda: Turns(1), compare=False, repr=False)
    links: SharedGraph = field(default_factory=SharedGraph, compare=False, repr=False)
    cleared: Event = field(default_factory=Event, compare=False, repr=False)
    threads: Lock = field(default_factory=Lock, compare=False, repr=False)

    @property
    def scan(self) -> ScanOptions:
        """Which files belong to the vault."""
        return ScanOptions.from_config(self.config)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the vault's lock of writers, among threads and processes.

        Raises:
            VaultError: another writer did not let go in time; or the vault's folder is away, or is another one than
                before without any of the cards, as where a disk is not mounted.
        """
        timeout = self.config.lock_timeout_seconds
        if not self.threads.acquire(timeout=timeout):
            raise self._busy()
        try:
            with hold(self.index_folder / _WRITE_LOCK, timeout) as held:
                if not held:
                    raise self._busy()
                if LastSync(self.notes_folder).root() not in (None, root_id(self.root)):
                    self.latest()
                if not self.cleared.is_set():
                    self.cleared.set()
                    self.clear_leftovers()
                yield
        finally:
            self.threads.release()

    def clear_leftovers(self) -> None:
        """Take away what killed writers left: a walk through all folders. Held is the lock of writers."""
        clear_leftovers(self.root, self.scan)

    def _busy(self) -> VaultError:
        return VaultError("another writer did not end in time", path=self.root, hint="try again")
