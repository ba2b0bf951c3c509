"""Requests to a daemon."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import weakref
from typing import Any

from cogvault.client.endpoint import Endpoint
from cogvault.client.wire import to_error
from cogvault.errors import DaemonError

__all__ = ["Connection", "NobodyListens"]

# Finding out that nobody listens must cost a command nothing.
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 120.0
_NOBODY = (ConnectionRefusedError, FileNotFoundError)
# What a connection that the other side closed meanwhile fails with, before anything of an answer was read.
_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SECONDS)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.sock.close()
            raise
        self.sock.settimeout(self.timeout)


class NobodyListens(DaemonError):
    """No daemon is there at all, which is no fault."""


class Connection:
    """Sends requests one after another; safe to share between threads, each of which has a connection of its own.

    Args:
        endpoint: where the daemon is.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._local = threading.local()
        self._open: weakref.WeakSet[http.client.HTTPConnection] = weakref.WeakSet()

    def close(self) -> None:
        """Close the connections of all threads; the next request opens another."""
        for connection in tuple(self._open):
            connection.close()

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
            DaemonError: it does not answer, or turns the call away.
            CogvaultError: what the daemon says went wrong.
        """
        data = None if body is None else json.dumps(body).encode()
        try:
            try:
                status, answer = self._exchange(path, data, timeout_seconds)
            except _CLOSED:
                if not repeatable:
                    raise
                self._drop()
                status, answer = self._exchange(path, data, timeout_seconds)
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            raise self._failure(error, is_write=not repeatable and body is not None) from error
        try:
            document = json.loads(answer)
        except ValueError as error:
            raise DaemonError("what answers is no cogvault daemon", path=str(self.endpoint)) from error
        if status >= 400:
            fault = document.get("error") if isinstance(document, dict) else None
            raise to_error(fault) if isinstance(fault, dict) else DaemonError(f"the daemon answered {status}")
        return document

    def _failure(self, error: Exception, *, is_write: bool) -> DaemonError:
        if isinstance(error, _NOBODY):
            return NobodyListens("no daemon answers", path=str(self.endpoint), hint="start one: cogvault daemon")
        reason = str(error) or type(error).__name__
        hint = "look whether it was done before doing it again" if is_write else None
        return DaemonError(f"the daemon gave no answer: {reason}", path=str(self.endpoint), hint=hint)

    def _exchange(self, path: str, body: bytes | None, timeout_seconds: float | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        if self.endpoint.token:
            headers["Authorization"] = f"Bearer {self.endpoint.token}"
        kept: http.client.HTTPConnection | None = getattr(self._local, "http", None)
        if kept is None or _is_dead(kept):
            self._drop()
            kept = self._local.http = self._connect()
            self._open.add(kept)
        kept.timeout = timeout_seconds
        if kept.sock is not None:
            kept.sock.settimeout(timeout_seconds)
        kept.request("GET" if body is None else "POST", path, body, headers)
        answer = kept.getresponse()
        return answer.status, answer.read()

    def _drop(self) -> None:
        """Close the connection of this thread."""
        if (kept := getattr(self._local, "http", None)) is not None:
            kept.close()
            self._local.http = None

    def _connect(self) -> http.client.HTTPConnection:
        if self.endpoint.socket:
            return _UnixConnection(self.endpoint.socket)
        return http.client.HTTPConnection(self.endpoint.host, self.endpoint.port)


def _is_dead(connection: http.client.HTTPConnection) -> bool:
    """True when the other side closed it: a write must not be sent to find that out, or it might be done twice."""
    if connection.sock is None:
        return True
    connection.sock.setblocking(False)
    try:
        return connection.sock.recv(1, socket.MSG_PEEK) == b""
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
