"""Who may compute now."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

__all__ = ["Turns"]


class Turns:
    """A context manager in which at most so many threads are at once; the others wait, and come first served first.

    More threads that compute than CPUs answer nobody sooner: they only pass Python's lock to and fro, which costs half
    of the CPU time again. What waits for something else, such as a file, a lock or a server, should wait outside.

    A thread that is inside must not enter again.

    Args:
        count: threads at most, at least 1.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError("count must be at least 1")
        self._lock = threading.Lock()
        self._free = count
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    def __enter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        try:
            called.acquire()
        except BaseException:  # a signal's handler raised
            with self._lock:
                if called in self._waiting:
                    self._waiting.remove(called)
                else:
                    self._pass_on()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().release()
        else:
            self._free += 1
