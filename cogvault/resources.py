"""The index and the model of one vault."""

from __future__ import annotations

import logging
import threading
from functools import cached_property
from pathlib import Path

from cogvault.cards import MarkdownCardParser
from cogvault.config import Config
from cogvault.errors import ModelError, VaultError
from cogvault.indexes import IndexPlace, LocalIndex
from cogvault.indexing.last_run import how_made, made_with
from cogvault.indexing.made_with import MadeWith
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.sync import Syncer
from cogvault.layers.folder_store import FolderStore
from cogvault.protocols import Embedder, Index, Snapshot, Summarizer
from cogvault.registry import NO_MODEL, ModelPool
from cogvault.retrieval.calibration import changed_floor
from cogvault.retrieval.sample import Sampler

__all__ = ["Resources"]

logger = logging.getLogger(__name__)


class Resources:
    """Opened on first use, and given back. Safe to share between threads.

    Args:
        path: the vault.
        config: its settings.
        place: of its index.
        models: where models come from.
        embedder: a model object instead of one chosen by ``config.model``.
        index: an index object instead of the local one.
        summarizer: makes the layers of cards.
        folders: where the layers of folders are kept.

    Attributes:
        path: the vault.
        config: its settings.
        place: of its index.
        parser: bytes to cards.
        options: how it is synced.
    """

    def __init__(
        self,
        path: Path,
        config: Config,
        place: IndexPlace,
        models: ModelPool,
        *,
        embedder: Embedder | None,
        index: Index | None,
        summarizer: Summarizer,
        folders: FolderStore,
    ) -> None:
        self.path = path
        self.config = config
        self.place = place
        self._models = models
        self._given = embedder
        self._index = index
        self._summarizer = summarizer
        self._folders = folders
        self._lock = threading.RLock()
        self._closed = False
        self._sampler = Sampler()
        self.parser = MarkdownCardParser(strip_frontmatter=config.strip_frontmatter)
        self.options = SyncOptions.from_config(
            config, place.folder, keyword_only=self.is_keyword_only, is_shared=index is None
        )

    @cached_property
    def made_with(self) -> MadeWith:
        """What tells whether another process, with other settings, made the index hold other cards than this vault's.

        Each search asks, and a syncer would be much to make for that.
        """
        return made_with(self.options, how_made(self.parser, self._summarizer))

    @property
    def is_keyword_only(self) -> bool:
        """True for who wants no model, and misses none."""
        return self.config.model == NO_MODEL and self._given is None

    def close(self) -> None:
        """Release the index. Calling it twice does nothing."""
        with self._lock:
            self._closed = True
            if self._index is not None:
                self._index.close()
                self._index = None

    def rest(self) -> bool:
        """Give back what was read of a small index, which the next use reads again; False = there is nothing."""
        if not self._lock.acquire(blocking=False):  # who closes it gives all back
            return False
        try:
            is_resting = isinstance(self._index, LocalIndex) and self._index.rest()
            if is_resting:
                self._sampler = Sampler()
            return is_resting
        finally:
            self._lock.release()

    def index(self) -> Index:
        """The index, opened on first use.

        Raises:
            VaultError: the vault is closed.
        """
        with self._lock:
            if self._closed:
                raise VaultError("the vault is closed", path=self.path, hint="open it again with Vault(path)")
            if self._index is None:
                self._index = LocalIndex(self.place.folder, threads=self.config.threads)
            return self._index

    def embedder(self, snapshot: Snapshot | None = None) -> Embedder | None:
        """The model of this vault, or None; a model that cannot be had is logged, and search goes on without.

        Args:
            snapshot: of the index, whose model is used where the settings leave it open; None = the newest.
        """
        if self._given is not None or self.config.model == NO_MODEL:
            return self._given
        try:
            stored = (snapshot or self.index().snapshot()).stats.identity.model_name
            return self._models.get(self.config.model, stored=stored)
        except ModelError as error:
            logger.warning("no embedding model: %s", error)
            return None

    def syncer(self) -> Syncer:
        """Makes the index equal to the files, with the model that can be had now."""
        return Syncer(
            self.path,
            self.index(),
            self.parser,
            self.embedder(),
            self.options,
            summarizer=self._summarizer,
            folders=self._folders,
            kept=self._models.kept_vectors(),
        )

    def measure(self, timeout_seconds: float | None = None) -> None:
        """Measure the model's floor on this vault when the texts it was measured on changed."""
        found = changed_floor(self.index().snapshot(), self._sampler, self.embedder())
        if found is not None:
            timeout = self.options.lock_timeout_seconds if timeout_seconds is None else timeout_seconds
            self.syncer().mark(*found, timeout)
