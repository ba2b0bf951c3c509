"""What has to be done so that an index equals the files. Pure, but for the given reader.

A stamp is a hint: an equal one means unchanged, any difference means that the content is compared. Moves are matched by
content only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from cogvault.types import KnownFile, Stamp

__all__ = ["Content", "Plan", "Reader", "Seen", "plan"]


class Seen(Protocol):
    """A file as a scan saw it."""

    @property
    def path(self) -> str:
        """Its path on disk."""

    @property
    def stamp(self) -> Stamp:
        """Its stamp."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read: hex SHA-256 of its bytes, and the stamp that goes with them."""

    hash: str
    stamp: Stamp


# Reads a card's file; None = it could not be read, and the reader keeps the reason.
Reader: TypeAlias = Callable[[str], Content | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that make what is known equal to what was seen. Ids are in order.

    Attributes:
        added: new files.
        changed: files whose content or name on disk is another.
        moved: (old id, new id) of files whose content was found under another id.
        removed: files that are gone.
        touched: new stamps of files with the same content.
        unread: files that could not be read: what is known of them stays.
        same: files with an equal stamp, and what is out of the scan's sight.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    touched: Mapping[str, Stamp] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Cards whose row can stay as it is, but perhaps for its stamp."""
        return tuple(sorted((*self.same, *self.touched)))


def plan(
    known: Mapping[str, KnownFile],
    seen: Mapping[str, Seen],
    read: Reader,
    *,
    covers: Callable[[str], bool] = lambda id: True,
    verify: bool = False,
) -> Plan:
    """Compare an index with a scan.

    Args:
        known: cards of the index, by id.
        seen: files of the scan, by id.
        read: reads one file of ``seen``.
        covers: whether the scan looked where a card would be; only then a card that was not seen is gone.
        verify: read every file, whatever its stamp says.
    """
    new: list[str] = []
    changed: list[str] = []
    same: list[str] = []
    unread: list[str] = []
    touched: dict[str, Stamp] = {}
    for id in sorted(seen):
        before, now = known.get(id), seen[id]
        if before is None:
            new.append(id)
        elif before.path != now.path:
            changed.append(id)
        elif before.stamp == now.stamp and not verify:
            same.append(id)
        elif (content := read(id)) is None:
            unread.append(id)
        elif content.hash != before.hash:
            changed.append(id)
        elif content.stamp != before.stamp:
            touched[id] = content.stamp
        else:
            same.append(id)
    unseen = sorted(id for id in known if id not in seen)
    gone = [id for id in unseen if covers(id)]
    same.extend(id for id in unseen if not covers(id))
    moved = _moves(gone, new, known, seen, read)
    left, taken = {old for old, _ in moved}, {new for _, new in moved}
    return Plan(
        added=tuple(id for id in new if id not in taken),
        changed=tuple(changed),
        moved=tuple(moved),
        removed=tuple(id for id in gone if id not in left),
        touched=touched,
        unread=tuple(unread),
        same=tuple(sorted(same)),
    )


def _moves(
    gone: Iterable[str], new: Iterable[str], known: Mapping[str, KnownFile], seen: Mapping[str, Seen], read: Reader
) -> list[tuple[str, str]]:
    """Pairs of a card that is gone and a new file with its content; same file names first, then in order of ids."""
    by_hash: dict[str, list[str]] = {}
    for id in gone:
        if known[id].stamp.size:  # all empty files are alike: no sign of a move
            by_hash.setdefault(known[id].hash, []).append(id)
    sizes = {known[id].stamp.size for ids in by_hash.values() for id in ids}
    pairs: list[tuple[str, str]] = []
    waiting: dict[str, list[str]] = {}
    for id in new:
        # Only an equal size can be an equal content; others need not be read twice.
        if seen[id].stamp.size in sizes and (content := read(id)) is not None and content.hash in by_hash:
            waiting.setdefault(content.hash, []).append(id)
    for digest, targets in waiting.items():
        sources = by_hash[digest]
        for target in tuple(targets):
            match = next((source for source in sources if _name(source) == _name(target)), None)
            if match is not None:
                sources.remove(match)
                targets.remove(target)
                pairs.append((match, target))
        pairs.extend(zip(sources, targets, strict=False))
    return sorted(pairs)


def _name(id: str) -> str:
    return id.rpartition("/")[2].casefold()
