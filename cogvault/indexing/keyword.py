"""A plan carried out: cards put into the index in batches, each searchable by keyword once it is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from cogvault.indexing.cardfiles import CardFiles
from cogvault.indexing.plan import Plan
from cogvault.protocols import Index
from cogvault.types import CardLayers, CardRecord, ChangeSet, Problem

__all__ = ["Applied", "carry_out"]

# A commit of large cards is ended early, so that memory stays bounded.
_BATCH_CHARS = 8_000_000


@dataclass(slots=True)
class Applied:
    """What was put into the index.

    Attributes:
        ids: cards that were put.
        problems: what is wrong with them.
        reused: chunks of replaced cards whose text was there before.
    """

    ids: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    reused: int = 0


def carry_out(
    plan: Plan,
    index: Index,
    files: CardFiles,
    rebuild_as: str | None,
    batch: int,
    progress: Callable[[int, int], None],
) -> Applied:
    """Make the index equal to the files of a plan.

    Args:
        plan: what to do.
        index: where.
        files: reads and parses.
        rebuild_as: put unchanged cards again too, and then mark the index with this fingerprint of the way of chunking;
            None = it has not changed.
        batch: cards a commit.
        progress: called with cards done and cards in all.
    """
    applied = Applied()
    old_ids = {new: old for old, new in plan.moved}
    ids = [*old_ids, *plan.added, *plan.changed]
    is_new = not (plan.changed or plan.moved or plan.removed or plan.unread or plan.unchanged)
    if rebuild_as is not None:
        ids += [id for id in plan.unchanged if id in files.files]
        if is_new:  # marked first, so that a killed first run goes on where it stopped
            _mark(index, rebuild_as)
    again = set(ids)
    rest = ChangeSet(remove=plan.removed, restamp={id: stamp for id, stamp in plan.touched.items() if id not in again})
    progress(0, len(ids))
    before = {**old_ids, **{id: id for id in plan.changed}} if rebuild_as is None else {}
    for records, seen in _batches(ids, files, batch, lambda id: _layers(index, before.get(id))):
        moved = tuple(old_ids[record.card.id] for record in records if record.card.id in old_ids)
        applied.reused += _reused(index, records, moved)
        index.apply(replace(rest, put=tuple(records), remove=(*rest.remove, *moved)))
        rest = ChangeSet()
        applied.ids.update(record.card.id for record in records)
        applied.problems += [problem for record in records for problem in record.card.problems]
        progress(seen, len(ids))
    if rest.remove or rest.restamp:
        index.apply(rest)
    if rebuild_as is not None and not is_new:
        _mark(index, rebuild_as)
    return applied


def _mark(index: Index, chunking: str) -> None:
    index.apply(ChangeSet(identity=replace(index.snapshot().stats.identity, chunking=chunking)))


def _batches(
    ids: Iterable[str], files: CardFiles, count: int, before: Callable[[str], CardLayers]
) -> Iterator[tuple[list[CardRecord], int]]:
    """Records of the files that did not fail, with how many files were looked at so far."""
    batch: list[CardRecord] = []
    size = seen = 0
    for seen, id in enumerate(ids, 1):
        record = files.record(id, before(id))
        if record is None:
            continue
        batch.append(record)
        size += len(record.card.body)
        if len(batch) >= count or size >= _BATCH_CHARS:
            yield batch, seen
            batch, size = [], 0
    if batch:
        yield batch, seen


def _layers(index: Index, id: str | None) -> CardLayers:
    return CardLayers("", "") if id is None else index.snapshot().layers([id])[0]


def _reused(index: Index, records: list[CardRecord], moved: tuple[str, ...]) -> int:
    snapshot = index.snapshot()
    before = {
        stored.chunk.embed_text
        for id in (*moved, *(record.card.id for record in records))
        for stored in snapshot.of_card(id)
    }
    if not before:
        return 0
    return sum(bool(chunk.embed_text) and chunk.embed_text in before for record in records for chunk in record.chunks)
