"""Work that is done beside those who would otherwise wait for it."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable

from cogvault.errors import CogvaultError

__all__ = ["Beside"]

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 30.0


class _Stopped(Exception):
    """Ends a job that nobody waits for any more."""


class Beside:
    """One job, in a thread of its own, at most once at a time.

    Args:
        job: what to do. It is given a function to call as the work goes on, which raises when the work is to end.
    """

    def __init__(self, job: Callable[[Callable[[], None]], None]) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._not_before = float("-inf")
        # A thread that is in the middle of foreign code when the interpreter ends may bring the process down.
        weakref.finalize(self, _stop, self._lock, self._stopping, self._threads)

    @property
    def is_running(self) -> bool:
        """True while the job is being done."""
        return bool(self._threads) and self._threads[0].is_alive()

    def begin(self, wait_seconds: float) -> bool:
        """Begin the job, and wait for its end, but not longer than this; True = it came.

        Who finds it begun does not wait at all; after a failure it is not begun again for half a minute.
        """
        with self._lock:
            if self.is_running or self._stopping.is_set() or time.monotonic() < self._not_before:
                return False
            thread = threading.Thread(target=self._run, name="cogvault-repair", daemon=True)
            thread.start()
            self._threads[:] = [thread]  # one that was not started cannot be waited for
        thread.join(wait_seconds)
        return not thread.is_alive()

    def close(self) -> None:
        """Cut it short at its next step."""
        _stop(self._lock, self._stopping, self._threads)

    def _run(self) -> None:
        is_done = False
        try:
            self._job(self._go_on)
            is_done = True
        except _Stopped:
            pass
        except CogvaultError as error:
            logger.warning("%s", error)
        finally:
            if not is_done:
                self._not_before = time.monotonic() + _PAUSE_SECONDS

    def _go_on(self) -> None:
        if self._stopping.is_set():
            raise _Stopped


def _stop(lock: threading.Lock, stopping: threading.Event, threads: list[threading.Thread]) -> None:
    with lock:  # who begins is done with it, so that its thread is known here
        stopping.set()
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join()
