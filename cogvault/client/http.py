"""As much of HTTP/1.1 as a daemon's answers need.

The standard library's client would do, but takes as long to import as all else that a hook does.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable

__all__ = ["Broken", "Closed", "Wire"]

_CHUNK = 65536
# A daemon that works takes a request at once, and sends an answer that it has begun without a pause.
_STEP_SECONDS = 10.0
# Most answers take a few hundredths of a second. Whoever waits for longer may look whether it is worth it.
_SILENT_SECONDS = 5.0
# A daemon's head is a few hundred bytes.
_MAX_HEAD_BYTES = 65536


class Broken(OSError):
    """What came is no answer of HTTP, or ends in the middle of one."""


class Closed(ConnectionResetError):
    """The other side closed before it sent anything of an answer."""


class Wire:
    """One kept connection, for one request at a time.

    Args:
        sock: connected.
        host: as the request names it.
    """

    def __init__(self, sock: socket.socket, host: str) -> None:
        self._sock = sock
        self._host = host
        self._read = b""
        self.is_open = True
        """False once the other side said that it closes, or something failed."""

    def close(self) -> None:
        """Calling it twice does nothing."""
        self.is_open = False
        self._sock.close()

    def is_quiet(self) -> bool:
        """False when the other side closed, or sends what nobody asked for.

        A write must not be sent to find that out, or it might be done twice.
        """
        try:
            self._sock.setblocking(False)
            self._sock.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return self.is_open
        except OSError:
            pass
        return False

    def ask(
        self,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        timeout_seconds: float | None,
        silent: Callable[[], None] = lambda: None,
    ) -> tuple[int, bytes]:
        """POST the body, or GET without one; status and body of the answer.

        Args:
            path: of the request.
            body: what is sent.
            headers: more of them.
            timeout_seconds: how long it may take until an answer begins, None = as long as it does.
            silent: called now and then while none does, and when the other side does not take the request; what it
                raises ends the waiting.

        Raises:
            OSError: it was not answered; ``TimeoutError`` when the other side took too long for any step of it.
        """
        told = {"Host": self._host, **headers}
        if body is not None:
            told |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", *(f"{key}: {told[key]}" for key in told)]
        try:
            self._send("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""), silent)
            self._wait(math.inf if timeout_seconds is None else time.monotonic() + timeout_seconds, silent)
            self._sock.settimeout(_STEP_SECONDS)
            return self._answer()
        except BaseException:
            self.close()
            raise

    def _send(self, request: bytes, silent: Callable[[], None]) -> None:
        self._sock.settimeout(_STEP_SECONDS)
        try:
            self._sock.sendall(request)
        except TimeoutError:  # it is larger than what the system keeps for the other side
            silent()
            raise

    def _wait(self, end: float, silent: Callable[[], None]) -> None:
        """Until an answer begins, or the other side closes."""
        while (left := end - time.monotonic()) > 0:
            self._sock.settimeout(min(left, _SILENT_SECONDS))
            try:
                self._sock.recv(1, socket.MSG_PEEK)
                return
            except TimeoutError:
                if left > _SILENT_SECONDS:
                    silent()
        raise TimeoutError("timed out")

    def _answer(self) -> tuple[int, bytes]:
        while b"\r\n\r\n" not in self._read:
            if len(self._read) > _MAX_HEAD_BYTES:
                raise Broken("the answer's head does not end")
            if not self._more():
                raise Broken("the answer broke off") if self._read else Closed("closed without an answer")
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        protocol, _, rest = first.partition(" ")
        if not protocol.startswith("HTTP/1.") or not rest[:3].isdecimal():
            raise Broken("what answers does not speak HTTP")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if "transfer-encoding" in fields:
            raise Broken("the answer does not say its length")
        if fields.get("connection", "").lower() == "close":
            self.is_open = False
        return int(rest[:3]), self._body(fields.get("content-length"))

    def _body(self, length: str | None) -> bytes:
        if length is not None and not (length.isascii() and length.isdecimal()):
            raise Broken("the answer's length is no number")
        parts, missing = [self._read], -1 if length is None else int(length) - len(self._read)
        while missing and (part := self._sock.recv(_CHUNK)):
            parts.append(part)
            missing -= len(part)
        if length is None:
            self.is_open = False  # it ends with the connection
        elif missing:
            raise Broken("the answer broke off, or is longer than it says")
        self._read = b""
        return b"".join(parts)

    def _more(self) -> bool:
        part = self._sock.recv(_CHUNK)
        self._read += part
        return bool(part)
