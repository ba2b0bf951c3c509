"""Bodies of requests over HTTP that the SDK would refuse for half an emoji in them, as a pipe's frames are."""

from __future__ import annotations

import re

from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogvault_mcp.letters import with_whole_letters

__all__ = ["BodyMender"]

_HALF = re.compile(rb"\\u[dD][89a-fA-F]|^\xef\xbb\xbf")


class BodyMender:
    """Hands requests on with whole letters.

    Args:
        app: what is behind it, which refuses bodies that are too large.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_sent = scope["type"] == "http" and scope["method"] == "POST"
        await self._app(scope, await _mended(receive) if is_sent else receive, send)


async def _mended(receive: Receive) -> Receive:
    body, message = b"", await receive()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body") or len(body) > DEFAULT_MAX_REQUEST_BODY_SIZE:
            message = {**message, "body": _whole(body) if _HALF.search(body) else body}
            break
        message = await receive()
    first: list[Message] = [message]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _whole(body: bytes) -> bytes:
    try:
        return with_whole_letters(body.decode()).encode()
    except (ValueError, RecursionError):  # the SDK says what is wrong with it
        return body
