"""cogvault: a folder of Markdown as searchable memory for agents.

from cogvault import Vault

with Vault("~/agent/memory") as vault:
    for hit in vault.search("why did we drop Redis?"):
        print(hit.score, hit.citation, hit.snippet)
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from cogvault.config import Config as Config
    from cogvault.fleet import Fleet as Fleet
    from cogvault.fleet import FleetHit as FleetHit
    from cogvault.fleet import FleetHits as FleetHits
    from cogvault.indexing.report import SyncProgress as SyncProgress
    from cogvault.indexing.report import SyncReport as SyncReport
    from cogvault.indexing.watching import Watcher as Watcher
    from cogvault.layers.tokens import clip as clip
    from cogvault.layers.tokens import estimate_tokens as estimate_tokens
    from cogvault.lifecycle.sessions import Session as Session
    from cogvault.retrieval.fencing import Fenced as Fenced
    from cogvault.retrieval.fencing import fence_text as fence_text
    from cogvault.retrieval.fencing import fenced as fenced
    from cogvault.retrieval.hits import Hit as Hit
    from cogvault.retrieval.hits import Hits as Hits
    from cogvault.text.secrets import redact as redact
    from cogvault.types import Action as Action
    from cogvault.types import CardText as CardText
    from cogvault.types import Draft as Draft
    from cogvault.types import Turn as Turn
    from cogvault.types import VaultStatus as VaultStatus
    from cogvault.types import WriteResult as WriteResult
    from cogvault.vault import Vault as Vault

_HOMES = {
    "Action": "cogvault.types",
    "CardText": "cogvault.types",
    "Config": "cogvault.config",
    "Draft": "cogvault.types",
    "Fenced": "cogvault.retrieval.fencing",
    "Fleet": "cogvault.fleet",
    "FleetHit": "cogvault.fleet",
    "FleetHits": "cogvault.fleet",
    "Hit": "cogvault.retrieval.hits",
    "Hits": "cogvault.retrieval.hits",
    "Session": "cogvault.lifecycle.sessions",
    "SyncProgress": "cogvault.indexing.report",
    "SyncReport": "cogvault.indexing.report",
    "Turn": "cogvault.types",
    "Vault": "cogvault.vault",
    "VaultStatus": "cogvault.types",
    "Watcher": "cogvault.indexing.watching",
    "WriteResult": "cogvault.types",
    "clip": "cogvault.layers.tokens",
    "estimate_tokens": "cogvault.layers.tokens",
    "fence_text": "cogvault.retrieval.fencing",
    "fenced": "cogvault.retrieval.fencing",
    "redact": "cogvault.text.secrets",
}

__all__ = [
    "Action",
    "CardText",
    "Config",
    "Draft",
    "Fenced",
    "Fleet",
    "FleetHit",
    "FleetHits",
    "Hit",
    "Hits",
    "Session",
    "SyncProgress",
    "SyncReport",
    "Turn",
    "Vault",
    "VaultStatus",
    "Watcher",
    "WriteResult",
    "__version__",
    "clip",
    "estimate_tokens",
    "fence_text",
    "fenced",
    "redact",
]


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import cogvault`` costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'cogvault' has no attribute {name!r}")
