"""Values that flow through cogvault: frozen, slotted, free of IO.

Dates are timezone-aware ``datetime`` in UTC; a date without a zone in a card is taken as UTC, so that a
ranking never depends on the machine's zone. Line numbers are 1-based, ranges inclusive.
"""

from typing import TYPE_CHECKING, Any

from cogvault.types.answers import CardText, VaultStatus
from cogvault.types.base import EMPTY_META, JsonValue, Problem, Status, to_json
from cogvault.types.cards import Card, CardInfo, CardRecord, Chunk, ChunkKind, KnownFile, Link, LinkKind, Stamp, Summary
from cogvault.types.changes import CardLayers, ChangeSet, IndexIdentity, IndexStats, StoredChunk, VectorBatch
from cogvault.types.forgetting import CardStrength, SweepItem, SweepReport, Verdict
from cogvault.types.layer_files import LayerFilesReport
from cogvault.types.listing import ArchivedCard, FactVersion, Folder, ListedCard
from cogvault.types.queries import Evidence, Filter, LayerEvidence, Query, Ranking, Term, TermKind
from cogvault.types.sessions import Turn
from cogvault.types.writes import Action, Draft, Moment, SecretFound, SimilarCard, WriteResult

if TYPE_CHECKING:
    from cogvault.types.arrays import BoolArray as BoolArray
    from cogvault.types.arrays import FloatArray as FloatArray
    from cogvault.types.arrays import IntArray as IntArray

__all__ = [
    "EMPTY_META",
    "Action",
    "ArchivedCard",
    "BoolArray",
    "Card",
    "CardInfo",
    "CardLayers",
    "CardRecord",
    "CardStrength",
    "CardText",
    "ChangeSet",
    "Chunk",
    "ChunkKind",
    "Draft",
    "Evidence",
    "FactVersion",
    "Filter",
    "FloatArray",
    "Folder",
    "IndexIdentity",
    "IndexStats",
    "IntArray",
    "JsonValue",
    "KnownFile",
    "LayerEvidence",
    "LayerFilesReport",
    "Link",
    "LinkKind",
    "ListedCard",
    "Moment",
    "Problem",
    "Query",
    "Ranking",
    "SecretFound",
    "SimilarCard",
    "Stamp",
    "Status",
    "StoredChunk",
    "Summary",
    "SweepItem",
    "SweepReport",
    "Term",
    "TermKind",
    "Turn",
    "VaultStatus",
    "VectorBatch",
    "Verdict",
    "WriteResult",
    "to_json",
]


def __getattr__(name: str) -> Any:
    """Import what needs numpy on first use: a client that only asks and prints does without."""
    if name in ("BoolArray", "FloatArray", "IntArray"):
        from cogvault.types import arrays

        return getattr(arrays, name)
    raise AttributeError(f"module 'cogvault.types' has no attribute {name!r}")
