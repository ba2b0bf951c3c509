"""Many hints that something changed, gathered into few batches. Pure: the caller tells the time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TypeAlias

__all__ = ["Batch", "Debouncer"]

# Paths that may have changed; None = any may have.
Batch: TypeAlias = frozenset[Path] | None


class Debouncer:
    """Waits until hints pause, but never too long.

    Args:
        quiet_seconds: a batch is due when no hint came for so long.
        longest_seconds: and at the latest so long after its first hint.
        most: after more hints than this, a batch means everything: the system's own queue may have lost some too.
    """

    def __init__(self, quiet_seconds: float = 0.5, longest_seconds: float = 5.0, most: int = 4096) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._most = most
        self._first: float = math.inf
        self._last: float = math.inf
        self._reset()

    def __len__(self) -> int:
        """Hints that wait."""
        return self._count

    def add(self, path: Path | None, now: float) -> None:
        """Take a hint.

        Args:
            path: what may have changed, None = anything.
            now: any clock that only goes forward, in seconds.
        """
        self._first = min(self._first, now)
        self._last = now
        self._count += 1
        self._everything |= path is None or self._count > self._most
        if self._everything:
            self._paths.clear()
        elif path is not None:
            self._paths.add(path)

    def wait_seconds(self, now: float) -> float:
        """How long until the batch is due: 0 = it is, infinite = nothing waits."""
        due = min(self._last + self._quiet_seconds, self._first + self._longest_seconds)
        return max(0.0, due - now)

    def take(self) -> Batch:
        """The batch, due or not; the next one begins empty."""
        batch = None if self._everything else frozenset(self._paths)
        self._reset()
        return batch

    def _reset(self) -> None:
        self._paths: set[Path] = set()
        self._everything = False
        self._count = 0
        self._first = self._last = math.inf
