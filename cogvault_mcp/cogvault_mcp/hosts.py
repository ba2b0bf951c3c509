"""Whom a request over HTTP means: only names of this server, so that no web page reaches one on loopback.

The check of the SDK takes whatever begins with a name and a colon: ``localhost:1@evil.example``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["HostGate"]

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{0,5})?", re.IGNORECASE)
_ORIGIN = re.compile(rf"https?://{_AUTHORITY.pattern}", re.IGNORECASE)


class HostGate:
    """Lets a request pass whose host, and origin if it has one, are names of this server, with any port or none.

    Args:
        app: what is behind the gate.
        names: of the server, IPv6 addresses in brackets.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_known(_AUTHORITY, hosts[0]):
            return JSONResponse({"error": "no host of this server", "hint": "allow its name: --allow-host"}, 421)
        if not all(self._is_known(_ORIGIN, origin) for origin in origins):
            return JSONResponse({"error": "no origin of this server", "hint": "allow its name: --allow-host"}, 403)
        return None

    def _is_known(self, form: re.Pattern[str], text: str) -> bool:
        match = form.fullmatch(text)
        return match is not None and match[1].lower() in self._names
