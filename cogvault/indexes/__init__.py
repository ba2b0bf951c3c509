"""Indexes: what a vault is searched with."""

from cogvault.indexes.local import LocalIndex
from cogvault.indexes.local.damage import make_room
from cogvault.indexes.memory import MemoryIndex
from cogvault.indexes.opening import IndexPlace, find_place

__all__ = ["IndexPlace", "LocalIndex", "MemoryIndex", "find_place", "make_room"]
