"""Indexes: what a vault is searched with."""

from cogvault.indexes.local import LocalIndex
from cogvault.indexes.memory import MemoryIndex

__all__ = ["LocalIndex", "MemoryIndex"]
