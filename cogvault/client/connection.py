"""Requests to a daemon."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

from cogvault.client.endpoint import Endpoint
from cogvault.client.http import Closed, Wire
from cogvault.errors import DaemonError

__all__ = [
    "CHALLENGE_PATH",
    "DAEMON_HEADER",
    "HELLO_PATH",
    "REPLACED",
    "Connection",
    "NobodyListens",
    "Replaced",
    "Unresponsive",
]

# Finding out that nobody listens must cost a command nothing.
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 120.0
# Answered at once, also while all threads of the daemon work.
HELLO_PATH = "/v1/hello"
# A call names the daemon that was greeted. Another in its place, perhaps of another version, does nothing and answers
# with this status.
DAEMON_HEADER = "Cogvault-Daemon"
_VAULT_PATH = "/v1/vault/"
REPLACED = 412
# Of a daemon that took a call and is silent since.
_SIGN_OF_LIFE_SECONDS = 3.0
# Who listens on TCP is asked here to show that it knows the token, before it is told the token.
CHALLENGE_PATH = "/v1/proof?challenge="
_CHALLENGE_SECONDS = 2.0
_NOBODY = (ConnectionRefusedError, FileNotFoundError)
# What a connection that the other side closed meanwhile fails with, before anything of an answer was read.
_CLOSED = (Closed, ConnectionResetError, BrokenPipeError)


class _Stranger(ConnectionRefusedError):
    """Who listens does not know the token."""


class _Silent(TimeoutError):
    """Who listens took a call, and gives no sign of life."""


class NobodyListens(DaemonError):
    """No daemon is there at all, which is no fault."""


class Unresponsive(DaemonError):
    """A daemon took a call and hangs: it does not even say who it is. What it was asked for it may still do."""


class Replaced(DaemonError):
    """Another daemon listens by now, which cannot be asked instead. Nothing was done."""


class Connection:
    """Sends requests; safe to share between threads. Connections are kept for the next request of any thread.

    Args:
        endpoint: where the daemon is.

    Attributes:
        daemon: the one that was greeted, as it calls itself, "" = any.
        greet: sets ``daemon`` when another is there; raises a ``CogvaultError`` when that one cannot be used.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.daemon = ""
        self.greet: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._idle: list[Wire] = []

    def close(self) -> None:
        """Close what is kept; the next request opens another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for wire in idle:
            wire.close()

    def call(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        repeatable: bool = False,
        timeout_seconds: float | None = ANSWER_SECONDS,
    ) -> Any:
        """POST a JSON body, or GET without one; the answer's JSON.

        Args:
            path: of the request.
            body: what is sent.
            repeatable: doing it twice is as good as once, so that a connection which ends before the answer is no
                reason to give up.
            timeout_seconds: how long an answer may take, None = as long as the daemon lives.

        Raises:
            NobodyListens: there is no daemon.
            Unresponsive: it hangs, which is known after eight seconds; three more over TCP, and five more when it does
                not even take all of the request.
            Replaced: it is another daemon than the one that was greeted, and of another version or with other settings.
            DaemonError: it does not answer, or turns the call away.
            CogvaultError: what the daemon says went wrong.
        """
        data = None if body is None else json.dumps(body).encode()
        status, answer = self._ask(path, data, repeatable, timeout_seconds)
        if status == REPLACED and self.greet is not None:
            try:
                self.greet()
            except (NobodyListens, Unresponsive):
                raise
            except DaemonError as error:
                raise Replaced(error.message, path=error.path, hint=error.hint) from error
            status, answer = self._ask(path, data, repeatable, timeout_seconds)
        try:
            document = json.loads(answer)
        except ValueError as error:
            raise DaemonError("what answers is no cogvault daemon", path=str(self.endpoint)) from error
        if status >= 400:
            fault = document.get("error") if isinstance(document, dict) else None
            if not isinstance(fault, dict):
                raise DaemonError(f"the daemon answered {status}")
            from cogvault.client.wire import to_error

            raise to_error(fault)
        return document

    def _ask(self, path: str, data: bytes | None, repeatable: bool, seconds: float | None) -> tuple[int, bytes]:
        """Status and body of the answer."""
        try:
            try:
                return self._exchange(path, data, seconds)
            except _CLOSED:
                if not repeatable:
                    raise
                return self._exchange(path, data, seconds)
        except OSError as error:
            raise self._failure(error, is_write=not repeatable and data is not None) from error

    def _failure(self, error: Exception, *, is_write: bool) -> DaemonError:
        if isinstance(error, _NOBODY):
            told = (
                "who listens does not know the daemon's token" if isinstance(error, _Stranger) else "no daemon answers"
            )
            return NobodyListens(told, path=str(self.endpoint), hint="start one: cogvault daemon")
        hint = "look whether it was done before doing it again" if is_write else None
        if isinstance(error, _Silent):
            told = "the daemon hangs: it does not even say who it is"
            return Unresponsive(told, path=str(self.endpoint), hint=hint or "end its process, and start another")
        reason = str(error) or type(error).__name__
        return DaemonError(f"the daemon gave no answer: {reason}", path=str(self.endpoint), hint=hint)

    def _exchange(self, path: str, body: bytes | None, timeout_seconds: float | None) -> tuple[int, bytes]:
        wire = self._take()
        headers = self._headers()
        if self.daemon and path.startswith(_VAULT_PATH):
            headers[DAEMON_HEADER] = self.daemon
        answer = wire.ask(path, body, headers, timeout_seconds, self._check_alive)
        if wire.is_open:
            with self._lock:
                self._idle.append(wire)
        else:
            wire.close()
        return answer

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.endpoint.token}"} if self.endpoint.token else {}

    def _check_alive(self) -> None:
        """A call may take its time, but whoever works on it says meanwhile who he is.

        Raises:
            TimeoutError: he does not.
        """
        try:
            wire = self._connect()
            try:
                wire.ask(HELLO_PATH, None, self._headers(), _SIGN_OF_LIFE_SECONDS)
            finally:
                wire.close()
        except OSError as error:
            raise _Silent from error

    def _take(self) -> Wire:
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                return self._connect()
            if kept.is_quiet():
                return kept
            kept.close()

    def _connect(self) -> Wire:
        if not self.endpoint.socket:
            address = (self.endpoint.host, self.endpoint.port)
            wire = Wire(socket.create_connection(address, CONNECT_SECONDS), self.endpoint.host)
            self._check(wire)
            return wire
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(CONNECT_SECONDS)
        try:
            sock.connect(self.endpoint.socket)
        except OSError:
            sock.close()
            raise
        return Wire(sock, "localhost")

    def _check(self, wire: Wire) -> None:
        """A port is anybody's once the daemon that had it is gone: let who listens show that it knows the token.

        Raises:
            ConnectionRefusedError: it does not.
        """
        import hmac
        import secrets

        challenge = secrets.token_urlsafe(32)
        try:
            _, answer = wire.ask(f"{CHALLENGE_PATH}{challenge}", None, {}, _CHALLENGE_SECONDS)
            proof = str(json.loads(answer)["proof"])
        except (OSError, ValueError, KeyError, TypeError):
            proof = ""
        if not hmac.compare_digest(proof.encode(), self.endpoint.proof(challenge).encode()):
            wire.close()
            raise _Stranger
