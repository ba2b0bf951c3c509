"""Contract suites for implementations of ``cogvault.protocols``. They need pytest and hypothesis."""

from cogvault.testing.embedders import EmbedderContract
from cogvault.testing.indexes import IndexContract
from cogvault.testing.stateful import IndexMachine

__all__ = ["EmbedderContract", "IndexContract", "IndexMachine"]
