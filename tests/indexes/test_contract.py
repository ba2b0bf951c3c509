"""Both indexes keep the contract of an index."""

from __future__ import annotations

from pathlib import Path

from cogvault.indexes import LocalIndex, MemoryIndex
from cogvault.protocols import Index
from cogvault.testing.indexes import IndexContract


class TestMemoryIndex(IndexContract):
    def make_index(self, folder: Path) -> Index:
        return MemoryIndex()


class TestLocalIndex(IndexContract):
    def make_index(self, folder: Path) -> Index:
        return LocalIndex(folder)
