"""What every request to the daemon passes: the token, the name, the bounded queue, the bounded size, the figures."""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogvault.client.connection import DAEMON_HEADER, REPLACED
from cogvault_cli.daemon.metrics import Metrics

__all__ = ["MAX_BODY_BYTES", "MAX_QUEUE", "PROOF_PATH", "Gate", "answer", "problem"]

# Calls that wait or run; one more is turned away, so that neither memory nor waiting grows without bound.
MAX_QUEUE = 256
# Who does not know yet whether it is we who listen asks here, and does not tell the token.
PROOF_PATH = "/v1/proof"
# Of one request. A card has at most a few megabytes.
MAX_BODY_BYTES = 32 << 20


class Gate:
    """ASGI middleware.

    Args:
        app: what is behind it.
        metrics: counts and times what passes.
        token: what requests have to bear, "" = nothing.
        instance: name of this daemon among all that ever ran; a request that names another is refused.
        max_queue: calls of vaults that wait or run at most.
        max_body_bytes: size of a request at most.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        token: str = "",
        instance: str = "",
        max_queue: int = MAX_QUEUE,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._token = token
        self._instance = instance
        self._max_queue = max_queue
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._metrics.timed(scope["path"]) as outcome:

            async def note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    outcome.append(message["status"])
                await send(message)

            refusal = self._refusal(scope, Headers(scope=scope))
            await (refusal or self._app)(scope, _bounded(receive, self._max_body_bytes), note)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        given = headers.get("authorization", "").encode()
        is_asked_first = scope["path"] == PROOF_PATH
        if self._token and not is_asked_first and not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            return problem(401, "DaemonError", "no or a wrong token", "send Authorization: Bearer TOKEN")
        if headers.get(DAEMON_HEADER, self._instance) != self._instance:
            return problem(REPLACED, "DaemonError", "this is not the daemon that you greeted", "greet it: /v1/hello")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdecimal() or int(length) > self._max_body_bytes:
            return problem(413, "QueryError", _too_large(self._max_body_bytes), "send less")
        if self._metrics.is_call(scope["path"]) and self._metrics.queue > self._max_queue:
            refusal = problem(503, "DaemonError", f"{self._max_queue} calls wait already", "try again in a second")
            refusal.headers["Retry-After"] = "1"
            return refusal
        return None


def _bounded(receive: Receive, limit: int) -> Receive:
    """The same request, refused when it goes on for too long without having said its length."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return bounded


def _too_large(limit: int) -> str:
    return f"the request is larger than {limit} bytes"


def problem(status: int, kind: str, message: str, hint: str) -> Response:
    """An answer that says what went wrong; ``kind`` is a class of ``cogvault.errors``."""
    return answer({"error": {"kind": kind, "message": message, "hint": hint}}, status)


def answer(document: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(json.dumps(document, allow_nan=False), status, media_type="application/json")
