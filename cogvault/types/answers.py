"""What a vault tells of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cogvault.types.base import JsonValue, Problem, Status, to_document


@dataclass(frozen=True, slots=True)
class CardText:
    """Lines of a card's file.

    Attributes:
        lines: first and last line given, 1-based.
        total_lines: lines of the whole file.
        hash: hex SHA-256 of the whole file's bytes, to hand to ``update`` as ``base_hash``.
    """

    id: str
    text: str
    lines: tuple[int, int]
    total_lines: int
    hash: str = ""


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """What a vault holds and how well it is.

    Attributes:
        status: ``ok``, ``empty``, ``stale``, ``degraded`` or ``failed``; ``reason`` and ``hint`` go with it.
        vectors: chunks that have a vector; ``pending`` still need one.
        synced_at: when the keyword part last became equal to the files, None = never.
        problems: what is wrong with single cards.
        notes: what happened to the index, for example that damaged files were set aside.
    """

    path: str
    index: str
    status: Status
    reason: str
    hint: str
    cards: int
    chunks: int
    vectors: int
    pending: int
    model: str
    bytes_on_disk: int
    sequence: int
    synced_at: datetime | None
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return to_document(self)
