"""An index in a folder: SQLite catalog, tantivy, int8 vectors."""

from cogvault.indexes.local.index import LocalIndex

__all__ = ["LocalIndex"]
