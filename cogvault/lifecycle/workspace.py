"""What every write into a vault stands on: where it is, what it holds, and the one lock of its writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cogvault.config import Config
from cogvault.errors import VaultError
from cogvault.indexing.locking import hold
from cogvault.protocols import CardParser, Snapshot

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
        state_folder: the vault's own folder for what cannot be rebuilt from the files (use counts).
        fresh: what the vault holds; files that were announced by ``wrote`` are in it.
        wrote: tells that these paths (relative to the root) were written, moved or removed just now, so that the next
            answer of this process knows; it does not wait for the index.
        clock: the current instant, timezone-aware.
    """

    root: Path
    config: Config
    parser: CardParser
    index_folder: Path
    state_folder: Path
    fresh: Callable[[], Snapshot]
    wrote: Callable[[Iterable[str]], None]
    clock: Callable[[], datetime]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the vault's lock of writers, among threads and processes.

        Raises:
            VaultError: another writer did not let go in time.
        """
        with hold(self.index_folder / _WRITE_LOCK, self.config.lock_timeout_seconds) as held:
            if not held:
                raise VaultError("another writer did not end in time", path=self.root, hint="try again")
            yield
