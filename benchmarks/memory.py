"""Memory of a process while it works."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import psutil

__all__ = ["MEGABYTE", "Series", "memory", "watched"]

MEGABYTE = 1 << 20
_EVERY_SECONDS = 0.5


def memory(process: psutil.Process) -> tuple[float, float]:
    """Memory of a process in MB, and what of it is no page of a file."""
    told = process.memory_info()
    return told.rss / MEGABYTE, (told.rss - told.shared) / MEGABYTE


class Series:
    """What is no page of a file, twice a second."""

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._private_mb: list[float] = []

    def note(self, seconds: float, private_mb: float) -> None:
        """One look."""
        self._seconds.append(seconds)
        self._private_mb.append(private_mb)

    def mb_per_minute(self) -> float:
        """Slope of the straight line through all looks, which one look at an odd moment does not decide."""
        return float(np.polyfit(self._seconds, self._private_mb, 1)[0]) * 60


@contextmanager
def watched(process: psutil.Process) -> Iterator[Series]:
    """Look at a process for as long as the block lasts."""
    series, ended, began = Series(), threading.Event(), time.monotonic()

    def look() -> None:
        series.note(time.monotonic() - began, memory(process)[1])

    def keep_looking() -> None:
        while not ended.wait(_EVERY_SECONDS):
            look()

    look()
    thread = threading.Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield series
    finally:
        ended.set()
        thread.join()
        look()
