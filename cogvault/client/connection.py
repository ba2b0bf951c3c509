"""Requests to a daemon."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any

from cogvault.client.endpoint import Endpoint
from cogvault.client.wire import to_error
from cogvault.errors import CogvaultError, DaemonError

__all__ = ["Connection"]

# Finding out that nobody listens must cost a command nothing.
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 120.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
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


class Connection:
    """Sends requests one after another; safe to share between threads, each of which has a connection of its own.

    Args:
        endpoint: where the daemon is.
        timeout_seconds: how long an answer may take.
    """

    def __init__(self, endpoint: Endpoint, timeout_seconds: float = ANSWER_SECONDS) -> None:
        self.endpoint = endpoint
        self._timeout = timeout_seconds
        self._local = threading.local()

    def close(self) -> None:
        """Close this thread's connection; the next request opens another."""
        if (open_one := getattr(self._local, "http", None)) is not None:
            open_one.close()
            self._local.http = None

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """POST a JSON body, or GET without one; the answer's JSON.

        Raises:
            DaemonError: nobody answers.
            CogvaultError: what the daemon says went wrong.
        """
        try:
            status, data = self._exchange(path, None if body is None else json.dumps(body).encode())
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise DaemonError(f"no daemon answers: {error}", path=str(self.endpoint)) from error
        try:
            document = json.loads(data)
        except ValueError as error:
            raise DaemonError("what answers is no cogvault daemon", path=str(self.endpoint)) from error
        if status >= 400:
            fault = document.get("error") if isinstance(document, dict) else None
            raise to_error(fault) if isinstance(fault, dict) else CogvaultError(f"the daemon answered {status}")
        return document

    def _exchange(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        if self.endpoint.token:
            headers["Authorization"] = f"Bearer {self.endpoint.token}"
        kept = getattr(self._local, "http", None)
        if kept is None or _is_dead(kept):
            self.close()
            kept = self._local.http = self._connect()
        return self._send(kept, path, body, headers)

    def _connect(self) -> http.client.HTTPConnection:
        if self.endpoint.socket:
            return _UnixConnection(self.endpoint.socket, self._timeout)
        return http.client.HTTPConnection(self.endpoint.host, self.endpoint.port, timeout=self._timeout)

    @staticmethod
    def _send(
        connection: http.client.HTTPConnection, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


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
    finally:
        connection.sock.settimeout(connection.timeout)
