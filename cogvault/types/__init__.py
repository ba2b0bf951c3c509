"""Values that flow through cogvault: frozen, slotted, free of IO.

Dates are timezone-aware ``datetime`` in UTC; a date without a zone in a card is taken as UTC, so that a
ranking never depends on the machine's zone. Line numbers are 1-based, ranges inclusive.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogvault.types.answers import CardText as CardText
    from cogvault.types.answers import VaultStatus as VaultStatus
    from cogvault.types.arrays import BoolArray as BoolArray
    from cogvault.types.arrays import FloatArray as FloatArray
    from cogvault.types.arrays import IntArray as IntArray
    from cogvault.types.base import EMPTY_META as EMPTY_META
    from cogvault.types.base import JsonValue as JsonValue
    from cogvault.types.base import Problem as Problem
    from cogvault.types.base import Status as Status
    from cogvault.types.base import to_document as to_document
    from cogvault.types.base import to_json as to_json
    from cogvault.types.base import worst as worst
    from cogvault.types.cards import Card as Card
    from cogvault.types.cards import CardInfo as CardInfo
    from cogvault.types.cards import CardRecord as CardRecord
    from cogvault.types.cards import Chunk as Chunk
    from cogvault.types.cards import ChunkKind as ChunkKind
    from cogvault.types.cards import KnownFile as KnownFile
    from cogvault.types.cards import Link as Link
    from cogvault.types.cards import LinkKind as LinkKind
    from cogvault.types.cards import Stamp as Stamp
    from cogvault.types.cards import Summary as Summary
    from cogvault.types.changes import CardLayers as CardLayers
    from cogvault.types.changes import ChangeSet as ChangeSet
    from cogvault.types.changes import IndexIdentity as IndexIdentity
    from cogvault.types.changes import IndexStats as IndexStats
    from cogvault.types.changes import StoredChunk as StoredChunk
    from cogvault.types.changes import VectorBatch as VectorBatch
    from cogvault.types.forgetting import CardStrength as CardStrength
    from cogvault.types.forgetting import SweepItem as SweepItem
    from cogvault.types.forgetting import SweepReport as SweepReport
    from cogvault.types.forgetting import Verdict as Verdict
    from cogvault.types.layer_files import LayerFilesReport as LayerFilesReport
    from cogvault.types.listing import ArchivedCard as ArchivedCard
    from cogvault.types.listing import FactVersion as FactVersion
    from cogvault.types.listing import Folder as Folder
    from cogvault.types.listing import ListedCard as ListedCard
    from cogvault.types.queries import Evidence as Evidence
    from cogvault.types.queries import Filter as Filter
    from cogvault.types.queries import LayerEvidence as LayerEvidence
    from cogvault.types.queries import Query as Query
    from cogvault.types.queries import Ranking as Ranking
    from cogvault.types.queries import Term as Term
    from cogvault.types.queries import TermKind as TermKind
    from cogvault.types.sessions import Turn as Turn
    from cogvault.types.writes import Action as Action
    from cogvault.types.writes import Draft as Draft
    from cogvault.types.writes import Moment as Moment
    from cogvault.types.writes import SecretFound as SecretFound
    from cogvault.types.writes import SimilarCard as SimilarCard
    from cogvault.types.writes import WriteResult as WriteResult

_HOMES = {
    "Action": "cogvault.types.writes",
    "ArchivedCard": "cogvault.types.listing",
    "BoolArray": "cogvault.types.arrays",
    "Card": "cogvault.types.cards",
    "CardInfo": "cogvault.types.cards",
    "CardLayers": "cogvault.types.changes",
    "CardRecord": "cogvault.types.cards",
    "CardStrength": "cogvault.types.forgetting",
    "CardText": "cogvault.types.answers",
    "ChangeSet": "cogvault.types.changes",
    "Chunk": "cogvault.types.cards",
    "ChunkKind": "cogvault.types.cards",
    "Draft": "cogvault.types.writes",
    "EMPTY_META": "cogvault.types.base",
    "Evidence": "cogvault.types.queries",
    "FactVersion": "cogvault.types.listing",
    "Filter": "cogvault.types.queries",
    "FloatArray": "cogvault.types.arrays",
    "Folder": "cogvault.types.listing",
    "IndexIdentity": "cogvault.types.changes",
    "IndexStats": "cogvault.types.changes",
    "IntArray": "cogvault.types.arrays",
    "JsonValue": "cogvault.types.base",
    "KnownFile": "cogvault.types.cards",
    "LayerEvidence": "cogvault.types.queries",
    "LayerFilesReport": "cogvault.types.layer_files",
    "Link": "cogvault.types.cards",
    "LinkKind": "cogvault.types.cards",
    "ListedCard": "cogvault.types.listing",
    "Moment": "cogvault.types.writes",
    "Problem": "cogvault.types.base",
    "Query": "cogvault.types.queries",
    "Ranking": "cogvault.types.queries",
    "SecretFound": "cogvault.types.writes",
    "SimilarCard": "cogvault.types.writes",
    "Stamp": "cogvault.types.cards",
    "Status": "cogvault.types.base",
    "StoredChunk": "cogvault.types.changes",
    "Summary": "cogvault.types.cards",
    "SweepItem": "cogvault.types.forgetting",
    "SweepReport": "cogvault.types.forgetting",
    "Term": "cogvault.types.queries",
    "TermKind": "cogvault.types.queries",
    "to_document": "cogvault.types.base",
    "to_json": "cogvault.types.base",
    "worst": "cogvault.types.base",
    "Turn": "cogvault.types.sessions",
    "VaultStatus": "cogvault.types.answers",
    "VectorBatch": "cogvault.types.changes",
    "Verdict": "cogvault.types.forgetting",
    "WriteResult": "cogvault.types.writes",
}

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
    "to_document",
    "to_json",
    "worst",
]


def __getattr__(name: str) -> Any:
    """Import values on first use: a client that only asks and prints, such as a hook, does without most of them."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'cogvault.types' has no attribute {name!r}")
