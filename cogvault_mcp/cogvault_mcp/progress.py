"""Progress as the protocol wants it: one figure for all steps, which only rises."""

from __future__ import annotations

from collections.abc import Callable

import anyio.from_thread

__all__ = ["Rising"]


class Rising:
    """Tells the progress of one step after the other as that of one thing. Called in a worker thread.

    Args:
        tell: gets what is done, all there is to do as far as it is known, and the name of the step.
    """

    def __init__(self, tell: Callable[[float, float, str], None]) -> None:
        self._tell = tell
        self._step = ""
        self._before = self._done = 0.0
        self._told = -1.0

    def __call__(self, done: float, total: float, step: str) -> None:
        """So much of a step is done.

        Raises:
            BaseException: the call was cancelled, which ends the work.
        """
        anyio.from_thread.check_cancelled()
        if step != self._step:
            self._step, self._before = step, self._before + self._done
        self._done = done
        if (value := self._before + done) > self._told:
            self._told = value
            self._tell(value, self._before + total, step)
