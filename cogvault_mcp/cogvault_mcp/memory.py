"""The vault behind a server: the daemon's, else one of its own; opened when it is first needed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cogvault.errors import DaemonError

if TYPE_CHECKING:
    from cogvault import Hits, Vault
    from cogvault.client import RemoteVault

__all__ = ["MAX_K", "Memory"]

MAX_K = 50
logger = logging.getLogger(__name__)


class Memory:
    """One vault for many calls, each in a thread of its own.

    Nothing is imported, opened or read before the first call or ``start``: a client that connects is answered at once,
    however large the vault is.

    Args:
        open_vault: opens the vault in this process; called once, and again after it failed.
        connect: gives the daemon's, None when no daemon runs.
        types: card types that are searched when a search names none, () = all.
        k: passages at most of a search that does not say how many, None = as many as fit into its budget.
    """

    def __init__(
        self,
        open_vault: Callable[[], Vault],
        connect: Callable[[], RemoteVault | None] = lambda: None,
        *,
        types: tuple[str, ...] = (),
        k: int | None = None,
    ) -> None:
        self._open = open_vault
        self._connect = connect
        self._types = types
        self._k = k
        self._lock = threading.Lock()
        self._vault: Vault | RemoteVault | None = None
        self._is_local = False
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

    def vault(self) -> Vault | RemoteVault:
        """The vault, opened and watched.

        Raises:
            CogvaultError: it cannot be opened.
        """
        with self._lock:
            if self._vault is None:
                self._vault = self._remote() or self._local()
                if self._closed:
                    self._vault.close()
            return self._vault

    def leave_daemon(self) -> None:
        """Work without the daemon from now on: it does not answer any more."""
        with self._lock:
            if self._vault is not None and not self._is_local:
                self._vault.close()
                self._vault = self._local()

    def search(self, query: str, *, type: Sequence[str] = (), k: int | None = None, **options: Any) -> Hits:
        """``Vault.search`` with the defaults of this memory."""
        types = tuple(type) or self._types or None
        return self.vault().search(query, k or self._k, type=types, **options)

    def close(self) -> None:
        """Close the vault. Calling it twice does nothing."""
        with self._lock:
            self._closed = True
            if self._vault is not None:
                self._vault.close()

    def _remote(self) -> RemoteVault | None:
        try:
            return self._connect()
        except DaemonError as error:
            logger.warning("working without the daemon: %s", error)
            return None

    def _local(self) -> Vault:
        vault = self._open()
        vault.watch().__enter__()  # ends with the vault
        self._is_local = True
        return vault

    def _start(self) -> None:
        try:
            self.vault()
        except Exception as error:  # the call that needs the vault gets the same error, as an answer
            logger.warning("the vault cannot be opened: %s", error)
