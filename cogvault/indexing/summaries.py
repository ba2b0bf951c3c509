"""Layers that a language model writes: after everything is searchable, card by card, each batch kept at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from cogvault.indexes.noted import with_problems
from cogvault.indexing.cardfiles import SUMMARIZER_PROBLEM, CardFiles
from cogvault.indexing.known_files import KnownFiles
from cogvault.protocols import Index, Snapshot, Summarizer
from cogvault.types import CardInfo, CardLayers, CardRecord, ChangeSet, Problem

__all__ = ["Summarized", "drafts_of", "summarize_drafts", "summary_problems"]

# What a killed run loses at most.
_BATCH = 8
# A model that gives nothing for so many cards one after the other is not asked for the rest.
_IN_VAIN = 64
# A card is found among all as quickly as so many are gone through.
_LOOKS_UP = 20


@dataclass(slots=True)
class Summarized:
    """How many cards got layers from the model, and why others did not."""

    made: int = 0
    failed: list[Problem] = field(default_factory=list)


def drafts_of(snapshot: Snapshot, ids: Collection[str] | None = None) -> list[CardInfo]:
    """Cards whose layers are not what their summarizer promises; of those with these ids, None = of all."""
    if ids is None or len(ids) * _LOOKS_UP > len(snapshot.cards):
        cards = [card for card in with_problems(snapshot.cards) if ids is None or card.id in ids]
    else:
        known = KnownFiles(snapshot.cards)
        cards = [card for id in ids if (card := known.card(id)) is not None]
    return [card for card in cards if summary_problems(card.problems)]


def summary_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Those that a summarizer's notes became."""
    return [problem for problem in problems if problem.code == SUMMARIZER_PROBLEM]


def summarize_drafts(
    index: Index,
    files: CardFiles,
    summarizer: Summarizer,
    hold: Callable[[], AbstractContextManager[bool]],
    progress: Callable[[int, int], None],
) -> Summarized:
    """Ask the summarizer for the cards that wait for it, and put its layers into the index.

    Args:
        index: where the cards are.
        files: reads cards; cards of other files wait on.
        summarizer: gives the layers.
        hold: the lock of writers; it is not held while the model thinks.
        progress: called with cards done and cards in all.
    """
    asking = replace(files, summarize=summarizer.summarize, failed={})
    waiting = [card for card in drafts_of(index.snapshot()) if card.id in files.files]
    done = Summarized()
    in_vain = 0
    progress(0, len(waiting))
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        records = [record for card in batch if (record := asking.record(card.id)) is not None]
        failed = [problem for record in records for problem in summary_problems(record.card.problems)]
        made = len(records) - len({problem.path for problem in failed})
        with hold() as held:
            if not held:
                break
            for id in _put(index, records):
                summarizer.forget(id)
        done.made += made
        done.failed += failed
        progress(start + len(batch), len(waiting))
        in_vain = 0 if made else in_vain + len(batch)
        if in_vain >= _IN_VAIN:
            break
    return done


def _put(index: Index, records: Sequence[CardRecord]) -> list[str]:
    """Put what is new of cards that did not change while the model thought; ids of those that are gone by now.

    Chunks and vectors stay as they are.
    """
    snapshot = index.snapshot()
    known = KnownFiles(snapshot.cards).files(record.card.id for record in records)
    kept = snapshot.layers([record.card.id for record in records])
    current = tuple(
        record
        for record, before in zip(records, kept, strict=True)
        if record.card.id in known
        and known[record.card.id].hash == record.hash
        and (not summary_problems(record.card.problems) or before != CardLayers(record.abstract, record.overview))
    )
    if current:
        index.apply(ChangeSet(put=current))
    return [record.card.id for record in records if record.card.id not in known]
