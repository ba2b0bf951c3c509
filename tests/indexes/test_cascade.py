"""Edits of every kind leave the index that a fresh one would be, and cost little beyond themselves."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cascade import measure


def test_a_trace_of_edits_saves_work_and_ends_as_a_fresh_index(tmp_path: Path) -> None:
    rows = {row.metric: row.value for row in measure(tmp_path, cards=40, edits=48, batch=6)}
    assert rows["equal_to_fresh"] == 1.0
    assert rows["embeddings_saved"] > 0.6
    assert rows["layers_saved"] > 0.0
