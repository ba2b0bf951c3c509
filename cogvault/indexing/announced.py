"""Paths that this process wrote and that no sync has looked at yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

__all__ = ["Announced"]


class Announced:
    """Looked at by one thread at a time; who wrote a path and asks goes on only when it was looked at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._paths: set[str] = set()
        self._is_looking = False
        self._begun = {False: 0, True: 0}

    def add(self, paths: Iterable[str]) -> None:
        """These paths were written."""
        with self._lock:
            self._paths.update(paths)

    def settle(self, look: Callable[[set[str]], bool], timeout_seconds: float, *, is_whole: bool = False) -> bool:
        """Have everything looked at that was added before this call; False when that could not be done.

        Args:
            look: called with paths, unless another thread looks at them; False = they have to be looked at again by a
                later call.
            timeout_seconds: how long to wait for other threads.
            is_whole: the look is at all files, and is left out only when another such look began during this call.
        """
        with self._lock:
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
