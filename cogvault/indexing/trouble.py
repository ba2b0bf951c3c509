"""What the last look at all files could not do."""

from __future__ import annotations

from cogvault.indexing.last_problems import LastProblems
from cogvault.indexing.report import UNINDEXED_HINT, SyncReport, unindexed
from cogvault.indexing.state import State
from cogvault.indexing.vectors import EMBEDDING_FAILED
from cogvault.types import Status

__all__ = ["trouble_of"]


def trouble_of(report: SyncReport | None, problems: LastProblems) -> State | None:
    """What a look could not do; None = it did all.

    Args:
        report: of the look, None = another process looked.
        problems: what every look keeps.
    """
    if report is None:
        count = sum(problem.code != EMBEDDING_FAILED for problem in problems.failed())  # of vectors, their number tells
        return State(Status.DEGRADED, unindexed(count), UNINDEXED_HINT) if count else None
    return State(report.status, report.reason, report.hint) if report.status is Status.DEGRADED else None
