"""The MCP server of cogvault.

``create_server`` makes it, apart from how it is reached; ``cogvault-mcp`` serves it over standard input and output or
HTTP.
"""

from typing import Any

from cogvault import __version__

__all__ = ["__version__", "create_server"]


def __getattr__(name: str) -> Any:
    """Import the server on first use: the MCP framework takes half a second."""
    if name == "create_server":
        from cogvault_mcp.server import create_server

        return create_server
    raise AttributeError(f"module 'cogvault_mcp' has no attribute {name!r}")
