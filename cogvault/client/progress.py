"""How far a daemon's sync is, which the answer to the call cannot say before its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cogvault.errors import CogvaultError

if TYPE_CHECKING:
    from cogvault.indexing.report import SyncProgress
    from cogvault.types import VaultStatus

__all__ = ["POLL_SECONDS", "told_meanwhile"]

T = TypeVar("T")
POLL_SECONDS = 0.5


def told_meanwhile(
    work: Callable[[], T], status: Callable[[], VaultStatus], progress: Callable[[SyncProgress], None]
) -> T:
    """The result of a sync, whose progress is told as the vault's status shows it.

    Args:
        work: the sync. When ``progress`` raises it is left to end by itself.
        status: asked now and then; when it fails, only that step of the progress is not told.
        progress: told of cards, as many as there are by then, and of chunks with vectors.

    Raises:
        Exception: what the sync or ``progress`` raises.
    """
    from cogvault.indexing.report import SyncProgress

    results: list[T] = []
    faults: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # it is the caller's, an exit too
            faults.append(error)
        finally:
            ended.set()

    began = time.monotonic()
    threading.Thread(target=run, name="cogvault-sync", daemon=True).start()
    while not ended.wait(POLL_SECONDS):
        try:
            now = status()
        except CogvaultError:  # the sync goes on, and ends with an error of its own when the daemon is gone
            continue
        seconds = time.monotonic() - began
        if now.pending:
            progress(SyncProgress("vectors", now.vectors, now.vectors + now.pending, seconds))
        else:
            progress(SyncProgress("keyword", now.cards, now.cards, seconds))
    if faults:
        raise faults[0]
    return results[0]
