"""The vault behind a server: opened when it is first needed, followed by a watcher, closed with the server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogvault import Hits, Vault, Watcher

__all__ = ["Memory"]

DEFAULT_K = 5
logger = logging.getLogger(__name__)

_PATIENCE_SECONDS = 1.5
_CHECK_SECONDS = 0.02
_BUILDING = "the index is being built: what is indexed so far is searched"
_BUILDING_HINT = "ask again in a while"


class Memory:
    """One vault for many calls, each in a thread of its own.

    Nothing is imported, opened or read before the first call or ``start``: a client that connects is answered at once,
    however large the vault is.

    Args:
        open_vault: opens the vault; called once, and again after it failed.
        types: card types that are searched when a search names none, () = all.
        k: hits of a search that does not say how many.
    """

    def __init__(self, open_vault: Callable[[], Vault], *, types: tuple[str, ...] = (), k: int | None = None) -> None:
        self._open = open_vault
        self._types = types
        self._k = k
        self._lock = threading.Lock()
        self._vault: Vault | None = None
        self._watcher: Watcher | None = None
        self._closed = False

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Open the vault in the background. Calling it again does nothing."""
        if self._vault is None:
            threading.Thread(target=self._start, name="cogvault-open", daemon=True).start()

    def vault(self) -> Vault:
        """The vault, opened and watched.

        Raises:
            CogvaultError: it cannot be opened.
        """
        with self._lock:
            if self._vault is None:
                vault = self._open()
                self._watcher = vault.watch()
                self._watcher.__enter__()
                self._vault = vault
                if self._closed:
                    vault.close()
            return self._vault

    def search(self, query: str, *, type: Sequence[str] = (), k: int | None = None, **options: Any) -> Hits:
        """``Vault.search``; while the first index is built it does not wait, and the answer says so."""
        from cogvault.types import Status

        vault = self.vault()
        options.update(type=tuple(type) or self._types or None, k=k or self._k or DEFAULT_K)
        if self._is_building():
            hits = vault.search(query, sync=False, **options)
            return replace(hits, status=Status.STALE, reason=_BUILDING, hint=_BUILDING_HINT)
        return vault.search(query, **options)

    def close(self) -> None:
        """Close the vault. Calling it twice does nothing."""
        with self._lock:
            self._closed = True
            if self._vault is not None:
                self._vault.close()

    def _is_building(self) -> bool:
        """True when the first look at the files goes on for longer than a caller should wait."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while self._watcher is not None and self._watcher.is_running and self._watcher.last_report is None:
            if time.monotonic() > end:
                return True
            time.sleep(_CHECK_SECONDS)
        return False

    def _start(self) -> None:
        try:
            self.vault()
        except Exception as error:  # the call that needs the vault gets the same error, as an answer
            logger.warning("the vault cannot be opened: %s", error)
