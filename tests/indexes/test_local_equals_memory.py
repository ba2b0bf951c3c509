"""LocalIndex says what the oracle says, whatever happened before."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings

from cogvault.indexes import LocalIndex
from cogvault.protocols import Index
from cogvault.testing.stateful import IndexMachine


class LocalEqualsMemory(IndexMachine):
    def make_index(self, folder: Path) -> Index:
        return LocalIndex(folder)


LocalEqualsMemory.TestCase.settings = settings(
    max_examples=40, stateful_step_count=20, suppress_health_check=list(HealthCheck)
)
TestLocalEqualsMemory = LocalEqualsMemory.TestCase
