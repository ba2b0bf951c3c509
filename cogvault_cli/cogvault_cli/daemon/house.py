"""The vaults that the daemon serves: opened when asked for, watched, searched to tell how well they are."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from cogvault import Config, Fleet, Vault
from cogvault.config import resolve, vault_folder
from cogvault.errors import CogvaultError, DaemonError, VaultError
from cogvault.types import Status

__all__ = ["Health", "House"]

logger = logging.getLogger(__name__)

# A model that nobody used for so long is let go.
IDLE_SECONDS = 600.0
_CHECK_SECONDS = 30.0
# Where a process is told from what: they decide how it works, not what it answers.
_OWN = frozenset({"tenant", "log", "threads", "rerank_threads", "lock_timeout_seconds"})


@dataclass(frozen=True, slots=True)
class Health:
    """How well one vault can be searched, and why not better."""

    path: str
    status: Status
    reason: str


class House:
    """Vaults and models of the daemon. Safe to share between threads.

    Args:
        max_open: vaults that stay open at most while nobody uses them.
        idle_seconds: after so long without use a model is let go.
    """

    def __init__(self, *, max_open: int = 64, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._fleet = Fleet(max_open=max_open, many_queries=True, opened=self._watch)
        self._settled: frozenset[Path] = frozenset()
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="cogvault-keeper", daemon=True)
        self._keeper.start()

    def __enter__(self) -> House:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, tenant: str, settings: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
        """Open a vault for somebody who asks with these settings.

        Returns:
            The vault's real folder.

        Raises:
            VaultError: there is no such folder.
            ConfigError: a setting is wrong.
            DaemonError: the daemon has the vault with other settings.
        """
        folder = vault_folder(_absolute(tenant))
        asked = resolve(folder, Config(**settings), environment).config
        ours = self._config(folder)
        if ours != resolve(folder, None, os.environ).config:  # the vault's own file was changed
            self._fleet.release(folder)
            ours = self._config(folder)
        different = [name for name in Config.model_fields if getattr(asked, name) != getattr(ours, name)]
        different = [name for name in different if name not in _OWN]
        if different:
            told = f"the daemon has this vault with other settings: {', '.join(different)}"
            raise DaemonError(told, path=folder, hint="restart the daemon with them, or leave them out")
        return folder

    @contextmanager
    def vault(self, tenant: str) -> Iterator[Vault]:
        """Lend a vault.

        Raises:
            VaultError: there is no such folder.
        """
        with self._fleet.vault(_absolute(tenant)) as vault:
            yield vault

    def folders(self) -> tuple[Path, ...]:
        """Folders of the vaults that are open."""
        return self._fleet.folders()

    def models(self) -> tuple[str, ...]:
        """Names of the models that are in memory."""
        return self._fleet.models.in_memory()

    def health(self) -> list[Health]:
        """Search every open vault, with all its rankers, for the title of one of its cards."""
        return [self._health(folder) for folder in self.folders()]

    def release_idle(self) -> tuple[str, ...]:
        """Let go of idle models; their names."""
        return self._fleet.models.release_idle(self._idle_seconds)

    def settle(self) -> None:
        """Leave what the open vaults keep out of Python's collections of garbage, unless that was done for them.

        Else Python looks through all their cards each thousand searches or two and finds nothing, while everybody
        waits: 0.2 s for 10,000 cards. What vaults leave that were closed is collected.
        """
        opened = frozenset(self.folders())
        if opened == self._settled:
            return
        if self._settled - opened:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._settled = opened

    def close(self) -> None:
        """Close all vaults; those in use when they are given back."""
        self._stop.set()
        self._fleet.close()
        gc.unfreeze()

    def _health(self, folder: Path) -> Health:
        try:
            with self.vault(str(folder)) as vault:
                state = vault.status()
                if state.status in (Status.STALE, Status.EMPTY):  # who asks after health does not wait for a sync
                    return Health(str(folder), state.status, state.reason)
                cards = vault.cards()
                # Every ranker is asked, yet nothing is returned that would count as used.
                query, seen = (cards[0].title, [cards[0].id]) if cards else ("health", [])
                hits = vault.search(query, k=1, min_score=1.0, session_seen=seen, sync=False)
            if cards and hits.status is Status.EMPTY:  # the one card that was found is the one left out
                return Health(str(folder), Status.OK, "")
            return Health(str(folder), hits.status, hits.reason)
        except CogvaultError as error:
            return Health(str(folder), Status.FAILED, str(error))

    def _config(self, folder: Path) -> Config:
        with self._fleet.vault(folder) as vault:
            return vault.config

    def _watch(self, vault: Vault) -> None:
        vault.watch().__enter__()  # ends with the vault

    def _keep(self) -> None:
        before: tuple[Path, ...] = ()
        while not self._stop.wait(_CHECK_SECONDS):
            if released := self.release_idle():
                logger.info("let go of %s: not used for %.0f s", ", ".join(released), self._idle_seconds)
            now = self.folders()
            if now == before:  # so each had the time to read its cards
                self.settle()
            before = now


def _absolute(tenant: str) -> Path:
    """The folder as it was named. A relative one would be another for the asker than for the daemon."""
    if "\0" in tenant or not Path(tenant).is_absolute():
        raise VaultError("not an absolute path", path=tenant, hint="name the vault's folder from the root down")
    return Path(tenant)
