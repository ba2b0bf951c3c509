"""How a vault is synced."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cogvault.config import Config
from cogvault.indexing.scan import ScanOptions

__all__ = ["SyncOptions"]

_OWN_INDEX = "own-index"


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a vault is synced.

    Attributes:
        lock_folder: folder of the lock files, one for each vault.
        scan: which files belong to the vault.
        chunk_tokens: typical size of a chunk.
        max_card_bytes: of a larger file only the beginning is indexed.
        lock_timeout_seconds: how long to wait for another sync of the same vault.
        card_batch: cards a commit; large enough to cost little a card, small enough for bounded memory.
        vector_batch: chunks a commit of vectors; what a killed run loses at most.
        keyword_only: no vectors are wanted, so that none are missing.
        is_shared: the index is that of ``lock_folder``; False = another one, and what users of that one told each other
            stays for them.
        notes_folder: where what is known of the last sync is kept.
    """

    lock_folder: Path
    scan: ScanOptions = field(default_factory=ScanOptions)
    chunk_tokens: int = 200
    max_card_bytes: int = 4 << 20
    lock_timeout_seconds: float = 60.0
    card_batch: int = 500
    vector_batch: int = 256
    keyword_only: bool = False
    is_shared: bool = True

    @property
    def notes_folder(self) -> Path:
        return self.lock_folder if self.is_shared else self.lock_folder / _OWN_INDEX

    @classmethod
    def from_config(
        cls, config: Config, index_folder: Path, *, keyword_only: bool = False, is_shared: bool = True
    ) -> SyncOptions:
        """The options that a vault's settings ask for; the locks lie in its index folder."""
        return cls(
            lock_folder=index_folder,
            keyword_only=keyword_only,
            is_shared=is_shared,
            scan=ScanOptions.from_config(config),
            chunk_tokens=config.chunk_tokens,
            max_card_bytes=config.max_card_bytes,
            lock_timeout_seconds=config.lock_timeout_seconds,
        )
