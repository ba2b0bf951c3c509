"""Progress of a sync."""

from __future__ import annotations

import time

from cogvault.indexing.report import Progress, Stage, SyncProgress

__all__ = ["Meter"]


class Meter:
    """Tells progress, and time since the sync began."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._began = self._stage_began = time.perf_counter()
        self._stage: Stage = "scan"

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def start(self, stage: Stage) -> None:
        self._stage = stage
        self._stage_began = time.perf_counter()

    def tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(SyncProgress(self._stage, done, total, time.perf_counter() - self._stage_began))
