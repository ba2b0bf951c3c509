"""One writer at a time, among threads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from cogvault.config import make_private
from cogvault.errors import IndexFault

__all__ = ["hold"]

# Whoever looks seldom comes too late again and again where several want the lock.
_POLL_SECONDS = 0.005


@contextmanager
def hold(path: Path, timeout_seconds: float) -> Iterator[bool]:
    """Hold a lock file; the operating system lets it go when the process dies.

    Args:
        path: the lock file, made when it is not there.
        timeout_seconds: how long to wait for another holder.

    Yields:
        True while it is held, False when another holder did not let go in time.

    Raises:
        IndexFault: the lock file cannot be made.
    """
    lock = FileLock(path, poll_interval=_POLL_SECONDS)  # a new object each time, so that threads exclude each other too
    try:
        make_private(path.parent)  # or the lock would make it, for everybody to read
        lock.acquire(timeout=timeout_seconds)
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
