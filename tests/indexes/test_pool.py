"""Read connections come back whenever a snapshot dies, also in the middle of another one's birth."""

from __future__ import annotations

import gc
import sqlite3
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import schema
from cogvault.testing.records import record
from cogvault.types import ChangeSet


@pytest.mark.timeout(30)
def test_a_snapshot_that_is_collected_while_another_is_taken_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    collected: list[int] = []
    open_catalog = schema.connect

    def connect(path: Path, mode: str) -> sqlite3.Connection:
        collected.append(gc.collect())
        return open_catalog(path, mode)

    circle: list[object] = [index.snapshot()]
    circle.append(circle)
    del circle
    with monkeypatch.context() as patch:
        patch.setattr(schema, "connect", connect)
        assert len(index.snapshot().cards) == 1
    assert collected
    index.close()
