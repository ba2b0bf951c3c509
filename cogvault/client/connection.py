"""Requests to a daemon."""

from __future__ import annotations

import http.client
import json
import socket
import threading
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
    """Sends requests; safe to share between threads. Connections are kept for the next request of any thread.

    Args:
        endpoint: where the daemon is.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def close(self) -> None:
        """Close what is kept; the next request opens another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
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
                status, answer = self._exchange(path, data, timeout_seconds)
        except (OSError, http.client.HTTPException) as error:
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
        connection = self._take()
        try:
            connection.timeout = timeout_seconds
            if connection.sock is not None:
                connection.sock.settimeout(timeout_seconds)
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            status, data = answer.status, answer.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return status, data

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                return self._connect()
            if not _is_dead(kept):
                return kept
            kept.close()

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
