"""What a look at the files found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cogvault.indexing.cardfiles import CardFiles
from cogvault.indexing.plan import Plan
from cogvault.indexing.scan import ScanResult
from cogvault.indexing.written import Written
from cogvault.protocols import Snapshot
from cogvault.types import CardInfo

__all__ = ["Look"]


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to do to make an index equal to the files.

    Attributes:
        cards: what the index held.
        sequence: number of the change after which it held that.
        scanned: the files.
        files: reads them.
        todo: what the index lacks.
        others: cards that were not looked for.
        rebuild_as: fingerprint of the way of chunking, when all cards have to be put again for it.
        began_ns: when the look began, by the machine's clock.
        written: what cogvault told that it wrote, as far as this look has seen it.
    """

    cards: Sequence[CardInfo]
    sequence: int
    scanned: ScanResult
    files: CardFiles
    todo: Plan
    others: int
    rebuild_as: str | None
    began_ns: int
    written: Written

    @property
    def is_done(self) -> bool:
        """True when nothing has to be written; stamps alone wait for a look at all files, which reads these again."""
        todo = self.todo
        return self.rebuild_as is None and not (
            todo.added or todo.changed or todo.moved or todo.removed or (todo.touched and self.scanned.is_whole)
        )

    def is_of(self, snapshot: Snapshot) -> bool:
        """True when nothing was written into the index since, so that a look now would find the same to do."""
        return snapshot.cards is self.cards and snapshot.stats.sequence == self.sequence
