"""CPUs of this process, not of the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cogvault.config import available_cpus


@pytest.fixture(autouse=True)
def eight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.mark.parametrize(
    ("quota", "cpus"),
    [
        ("max 100000", 8),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("20000 100000", 1),
        ("6400000 100000", 8),
        ("0 100000", 8),
        ("100000 0", 8),
        ("", 8),
        ("\x00", 8),
    ],
)
def test_a_quota_of_the_control_group_counts(tmp_path: Path, quota: str, cpus: int) -> None:
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    assert available_cpus(tmp_path) == cpus


@pytest.mark.parametrize(("quota", "cpus"), [("-1", 8), ("300000", 3)])
def test_a_quota_of_an_older_kernel_counts(tmp_path: Path, quota: str, cpus: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert available_cpus(tmp_path) == cpus


def test_without_control_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert available_cpus(tmp_path / "missing") == 8
