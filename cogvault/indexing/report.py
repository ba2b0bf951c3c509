"""What a sync did, as a value that can be printed and sent as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cogvault.errors import ModelError
from cogvault.types import JsonValue, Problem, Status, to_document

__all__ = [
    "UNINDEXED_HINT",
    "Progress",
    "Stage",
    "SyncProgress",
    "SyncReport",
    "degraded",
    "unindexed",
    "without_model",
]

UNINDEXED_HINT = "see the reason of each, and mend or ignore it"

Stage: TypeAlias = Literal["scan", "keyword", "vectors", "summaries"]


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """How far a sync is.

    Attributes:
        stage: ``scan`` (files; chunks while a damaged keyword index is made anew), ``keyword`` (cards), ``vectors``
            (chunks), ``summaries`` (cards, by a language model).
        done: items of the stage that are done.
        total: items of the stage, an upper bound for vectors.
        seconds: since the stage began.
    """

    stage: Stage
    done: int
    total: int
    seconds: float


Progress: TypeAlias = Callable[[SyncProgress], None]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did. Ids are in order.

    Attributes:
        status: ``ok``; ``degraded``: not all could be indexed, ``reason`` says what; ``stale``: not done, as another
            process was at it too long.
        reason: why the status is not ``ok``, "" when it is.
        hint: what to do about it.
        added: new cards.
        changed: cards with other content.
        moved: (old id, new id) of cards whose content was found under another id.
        removed: cards whose file is gone.
        unchanged: number of cards that stayed as they were.
        refreshed: how many of those were indexed again because the way of chunking is another.
        failed: files and folders that could not be indexed; what was known of them is kept.
        problems: what is wrong with files that were indexed or left out.
        embedded: chunks that got a vector.
        reused: chunks of changed cards whose text was indexed before, so that they kept what vector they had.
        layers_reused: changed or moved cards that kept their abstract and overview, because nothing of what those are
            made from is another.
        pending_vectors: chunks that still need a vector.
        summarized: cards whose abstract and overview were made anew by the summarizer.
        pending_summaries: cards that have extracted ones until their language model gives them; when only some paths
            were looked at, those of them.
        folders: folders whose abstract and overview were made anew.
        seconds: duration of all.
        keyword_seconds: until everything was searchable by keyword.
    """

    status: Status = Status.OK
    reason: str = ""
    hint: str = ""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    refreshed: int = 0
    failed: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    embedded: int = 0
    reused: int = 0
    layers_reused: int = 0
    pending_vectors: int = 0
    summarized: int = 0
    pending_summaries: int = 0
    folders: int = 0
    seconds: float = 0.0
    keyword_seconds: float = 0.0

    @property
    def is_changed(self) -> bool:
        """True when an answer of the index may be another than before."""
        counts = (self.refreshed, self.embedded, self.summarized)
        return bool(self.added or self.changed or self.moved or self.removed or any(counts))

    def to_dict(self) -> dict[str, JsonValue]:
        """The report as JSON values, keys as the attributes."""
        return to_document(self)

    def __str__(self) -> str:
        """A few lines for people: counts, then every file that failed."""
        counts = [
            (len(self.added), "added"),
            (len(self.changed), "changed"),
            (len(self.moved), "moved"),
            (len(self.removed), "removed"),
            (self.unchanged, "unchanged"),
            (len(self.failed), "failed"),
            (self.embedded, "embedded"),
            (self.pending_vectors, "vectors pending"),
            (self.summarized, "summarized"),
            (self.pending_summaries, "summaries pending"),
        ]
        said = ", ".join(f"{count} {word}" for count, word in counts if count) or "no cards"
        lines = [f"{self.status}: {said} in {self.seconds:.2f} s"]
        if self.reason:
            lines.append(f"{self.reason} ({self.hint})" if self.hint else self.reason)
        for problem in (*self.failed, *self.problems):
            where = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
            lines.append(f"{where}: {problem.message}")
        return "\n".join(lines)


def unindexed(count: int) -> str:
    """Why a sync that could not index so many files is degraded."""
    return f"{count} files or folders could not be indexed; what was known of them is kept"


def degraded(report: SyncReport, reason: str, hint: str) -> SyncReport:
    """The report with one more reason why not all is well; the last hint counts."""
    said = f"{report.reason}; {reason}" if report.reason else reason
    return replace(report, status=Status.DEGRADED, reason=said, hint=hint)


def without_model(report: SyncReport, error: ModelError) -> SyncReport:
    """The report of a sync whose model could not be used."""
    hint = error.hint or "correct the model's setting and sync again"
    where = f"{error.path}: " if error.path else ""
    return degraded(report, f"no vectors, keyword search only: {where}{error.message}", hint)
