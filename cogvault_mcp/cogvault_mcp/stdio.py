"""Serve one client over standard input and output."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from cogvault_mcp.memory import Memory
from cogvault_mcp.orphan import exit_with_parent
from cogvault_mcp.pipe import piped
from cogvault_mcp.server import Context, create_server

__all__ = ["serve_stdio"]


def serve_stdio(memory: Memory) -> None:
    """Serve until standard input ends and what was asked is answered.

    Standard output carries protocol only: what else is printed goes to standard error.
    """
    exit_with_parent()
    server = create_server(lambda context: memory)

    async def initialized(context: Context, params: types.NotificationParams | None) -> None:
        memory.start()  # only now, so that opening the vault delays no handshake

    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    with memory:
        anyio.run(_serve, server)


async def _serve(server: Server[dict[str, Any]]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(*piped(incoming, outgoing), server.create_initialization_options())
