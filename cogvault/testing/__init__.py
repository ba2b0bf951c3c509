"""Contract suites for implementations of ``cogvault.protocols``. They need pytest and hypothesis."""

from cogvault.testing.embedders import EmbedderContract
from cogvault.testing.indexes import IndexContract
from cogvault.testing.parsers import ParserContract
from cogvault.testing.rankers import RankerContract
from cogvault.testing.stateful import IndexMachine
from cogvault.testing.summarizers import ModelSummarizerContract, SummarizerContract

__all__ = [
    "EmbedderContract",
    "IndexContract",
    "IndexMachine",
    "ModelSummarizerContract",
    "ParserContract",
    "RankerContract",
    "SummarizerContract",
]
