"""The MCP server of cogvault."""

from cogvault import __version__

__all__ = ["__version__"]
