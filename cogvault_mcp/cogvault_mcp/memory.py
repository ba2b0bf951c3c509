"""The vault behind a server: the daemon's, else one of its own; opened when it is first needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cogvault.errors import DaemonError

if TYPE_CHECKING:
    from cogvault import Hits, Vault
    from cogvault.client import RemoteVault

__all__ = ["MAX_K", "Memory"]

MAX_K = 50
# Who works without a daemon asks after one again, so that a restart of it does not leave every server with a model.
ASK_AGAIN_SECONDS = 30.0
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
        told: makes of a message of the library what clients may be told.
        clock: in seconds, for when to ask after a daemon again.

    Attributes:
        told: as given.
    """

    def __init__(
        self,
        open_vault: Callable[[], Vault],
        connect: Callable[[], RemoteVault | None] = lambda: None,
        *,
        types: tuple[str, ...] = (),
        k: int | None = None,
        told: Callable[[str], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_vault
        self._connect = connect
        self._types = types
        self._k = k
        self.told = told
        self._clock = clock
        self._asked = clock()
        self._calls = 0
        self._lock = threading.Lock()
        self._vault: Vault | RemoteVault | None = None
        self._own: Vault | None = None
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

    @contextmanager
    def call(self) -> Iterator[None]:
        """While a call runs, its vault is not exchanged for the daemon's."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                is_due = self._own is not None and self._clock() - self._asked >= ASK_AGAIN_SECONDS
                if is_due:
                    self._asked = self._clock()
            if is_due:  # nobody waits for it, as a daemon may hang
                threading.Thread(target=self.go_to_daemon, name="cogvault-ask-again", daemon=True).start()

    def leave_daemon(self) -> None:
        """Work without the daemon for now: it does not answer any more."""
        with self._lock:
            if self._vault is not None and self._own is None:
                self._vault.close()
                self._vault = self._local()

    def go_to_daemon(self) -> None:
        """Work through a daemon, if one answers and no call runs."""
        remote = self._remote()
        if remote is None:
            return
        with self._lock:
            own = None if self._calls or self._closed else self._own
            if own is not None:
                self._vault, self._own = remote, None
        if own is None:
            remote.close()
            return
        own.close()
        own.models.release_idle(0.0)
        logger.info("working through the daemon")

    def search(self, query: str, *, type: Sequence[str] = (), k: int | None = None, **options: Any) -> Hits:
        """``Vault.search`` with the defaults of this memory."""
        types = tuple(type) or self._types or None
        hits = self.vault().search(query, k or self._k, type=types, **options)
        return replace(hits, reason=self.told(hits.reason), hint=self.told(hits.hint))

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
        self._own, self._asked = vault, self._clock()
        return vault

    def _start(self) -> None:
        try:
            self.vault()
        except Exception as error:  # the call that needs the vault gets the same error, as an answer
            logger.warning("the vault cannot be opened: %s", error)
