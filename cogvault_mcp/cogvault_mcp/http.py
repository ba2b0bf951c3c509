"""Serve many clients over streamable HTTP: a bearer token is needed, and says which vault."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogvault.errors import ConfigError
from cogvault.serving import serve
from cogvault_mcp.bodies import BodyMender
from cogvault_mcp.hosts import HostGate
from cogvault_mcp.memory import Memory
from cogvault_mcp.server import Context, create_server

__all__ = ["TokenGate", "http_app", "listen", "serve_http"]

PATH = "/mcp"
_MEMORY = "cogvault.memory"
# As many as the MCP SDK serves at once, so that none of those is forgotten here.
_MAX_SESSIONS = 10_000
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class TokenGate:
    """Lets a request pass that bears a known token, with the memory that the token opens.

    A session is of the token that began it: whoever has another is told that there is none. Sessions that were used
    last are known, at most ``_MAX_SESSIONS``; of the others, which nobody ended, everybody is told that there is none.

    Args:
        app: what is behind the gate.
        memories: token to memory.
    """

    def __init__(self, app: ASGIApp, memories: Mapping[str, Memory]) -> None:
        self._app = app
        self._memories = {token.encode(): memory for token, memory in memories.items()}
        self._sessions: dict[bytes, Memory] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        memory = self._memory(scope)
        if memory is None:
            body = {"error": "unauthorized", "hint": "send the header Authorization: Bearer TOKEN"}
            await JSONResponse(body, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        session = _session(scope["headers"])
        if session and self._sessions.get(session) is not memory:
            await JSONResponse({"error": "no such session", "hint": "initialize a new one"}, 404)(scope, receive, send)
            return
        self._remember(session, memory)

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                if scope["method"] == "DELETE" and message["status"] == 200:
                    self._sessions.pop(session, None)
                elif begun := _session(message["headers"]):
                    self._remember(begun, memory)
            await send(message)

        scope[_MEMORY] = memory
        await self._app(scope, receive, note)

    def _remember(self, session: bytes, memory: Memory) -> None:
        """A session was begun or used."""
        if session:
            self._sessions.pop(session, None)
            self._sessions[session] = memory
            if len(self._sessions) > _MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]

    def _memory(self, scope: Scope) -> Memory | None:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1 or given[0][:7].lower() != b"bearer ":
            return None
        token = given[0][7:].strip()
        found: Memory | None = None
        for known, memory in self._memories.items():  # all of them: the time taken tells nothing
            if hmac.compare_digest(known, token):
                found = memory
        return found


def _session(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The session that headers name, b"" = none."""
    return next((value for name, value in headers if name.lower() == b"mcp-session-id"), b"")


def http_app(memories: Mapping[str, Memory], host: str, names: Sequence[str] = ()) -> ASGIApp:
    """The server as an ASGI application.

    Args:
        memories: token to memory.
        host: name or address at which it listens.
        names: others that clients use, for the check of host and origin: a proxy's, or this machine's.
    """

    def memory_of(context: Context) -> Memory:
        assert context.request is not None  # every transport over HTTP hands its request on
        memory: Memory = context.request.scope[_MEMORY]
        return memory

    app = create_server(memory_of).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # HostGate does that
        host=host,
    )
    return TokenGate(HostGate(BodyMender(app), (*_LOOPBACK, host, *names)), memories)


def listen(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to.

    Raises:
        ConfigError: there is no such address here, or another program has it.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        family, *_, address = min(found, key=lambda one: one[0] != socket.AF_INET)  # "localhost" is both
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "choose another port, or an address of this machine"
        raise ConfigError(f"cannot listen on {host}:{port}: {reason}", key="http", hint=hint) from error


def serve_http(memories: Mapping[str, Memory], listener: socket.socket, host: str, names: Sequence[str] = ()) -> None:
    """Serve until interrupted; open requests end first. The arguments are those of ``http_app``, and the socket."""
    import uvicorn

    app = http_app(memories, host, names)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    try:
        with suppress(KeyboardInterrupt):  # raised once more when all is done
            serve(uvicorn.Server(config).serve(sockets=[listener]))
    finally:
        listener.close()
        for memory in {id(memory): memory for memory in memories.values()}.values():
            memory.close()
