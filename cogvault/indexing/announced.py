"""Paths that were written through cogvault and that no sync has looked at yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from cogvault.indexing.written import WrittenPaths

__all__ = ["Announced"]


class Announced:
    """Looked at by one thread at a time; who asks after a path was written goes on only when it was looked at.

    Args:
        folder: the index folder, where other objects and processes tell what they wrote, and are told.
        is_shared: False = the index is another one than that of the folder: others are told, and tell nothing.
    """

    def __init__(self, folder: Path, *, is_shared: bool = True) -> None:
        self._written = WrittenPaths(folder, is_shared=is_shared)
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._paths: set[str] = set()
        self._is_looking = False
        self._begun = {False: 0, True: 0}

    def add(self, paths: Iterable[str]) -> None:
        """These paths were written."""
        paths = tuple(paths)
        with self._lock:
            self._paths.update(paths)
        self._written.add(paths)

    def settle(self, look: Callable[[set[str]], bool], timeout_seconds: float, *, is_whole: bool = False) -> bool:
        """Have everything looked at that was added before this call; False when that could not be done.

        Args:
            look: called with paths, unless another thread looks at them; False = they have to be looked at again by a
                later call.
            timeout_seconds: how long to wait for other threads.
            is_whole: the look is at all files, and is left out only when another such look began during this call.
        """
        others = self._written.read().paths
        with self._lock:
            self._paths |= others
            begun = self._begun[is_whole]
            if not (is_whole or self._paths or self._is_looking):
                return True
        if not self._turn.acquire(timeout=timeout_seconds):
            return False
        try:
            with self._lock:
                is_covered = self._begun[is_whole] != begun  # that look took all paths that were there
                if is_covered or not (is_whole or self._paths):
                    return True
                paths, self._paths = self._paths, set()
                self._is_looking = bool(paths)
                self._begun[False] += 1
                self._begun[True] += is_whole
            is_done = False
            try:
                is_done = look(paths)
            finally:
                with self._lock:
                    self._is_looking = False
                    if not is_done:
                        self._paths |= paths
            return is_done
        finally:
            self._turn.release()
