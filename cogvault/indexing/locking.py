"""One writer at a time, among threads and processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from cogvault.config import make_private
from cogvault.errors import IndexFault
from cogvault.indexes import make_room

__all__ = ["Locks", "hold"]

# Whoever looks seldom comes too late again and again where several want the lock.
_POLL_SECONDS = 0.005


@contextmanager
def hold(path: Path, timeout_seconds: float, is_over: Callable[[], bool] | None = None) -> Iterator[bool]:
    """Hold a lock file; the operating system lets it go when the process dies.

    Args:
        path: the lock file, made when it is not there.
        timeout_seconds: how long to wait for another holder.
        is_over: asked again and again meanwhile: True = it is not wanted any more.

    Yields:
        True while it is held, False when another holder did not let go in time.

    Raises:
        IndexFault: the lock file cannot be made.
    """
    lock = FileLock(path, poll_interval=_POLL_SECONDS)  # a new object each time, so that threads exclude each other too
    try:
        make_private(path.parent)  # or the lock would make it, for everybody to read
        make_room(path)
        lock.acquire(timeout=timeout_seconds, cancel_check=is_over)
    except Timeout:
        yield False
        return
    except OSError as error:
        hint = "is the folder read-only? COGVAULT_INDEX_DIR names another"
        raise IndexFault(f"the lock file cannot be made: {error.strerror}", path=path, hint=hint) from error
    try:
        yield True
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class Locks:
    """A vault's locks. Three: embedding takes minutes, a language model hours, and edits must become searchable by
    keyword meanwhile. Each method gives ``hold`` of one.

    Attributes:
        folder: of the lock files.
    """

    folder: Path

    def keyword(
        self, timeout_seconds: float, is_over: Callable[[], bool] | None = None
    ) -> AbstractContextManager[bool]:
        """For whoever puts cards into the index."""
        return hold(self.folder / "sync.lock", timeout_seconds, is_over)

    def vectors(self, timeout_seconds: float) -> AbstractContextManager[bool]:
        """For whoever embeds."""
        return hold(self.folder / "vectors.lock", timeout_seconds)

    def summaries(self, timeout_seconds: float) -> AbstractContextManager[bool]:
        """For whoever asks a language model."""
        return hold(self.folder / "summaries.lock", timeout_seconds)
