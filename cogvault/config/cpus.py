"""How many CPUs this process may use."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

__all__ = ["available_cpus"]

_CGROUPS: Final = Path("/sys/fs/cgroup")
# Quota and period in microseconds: both in one file, or in two of an older kernel. A container sees its own as these.
_QUOTAS: Final = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))


def available_cpus(cgroups: Path = _CGROUPS) -> int:
    """CPUs that this process may use, which can be fewer than the machine has: by its affinity, and by what its control
    group gives it of each second, rounded up; at least 1.

    Args:
        cgroups: where Linux shows control groups.
    """
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for names in _QUOTAS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or no quota: "max", -1
            quota, period = map(int, " ".join((cgroups / name).read_text("ascii") for name in names).split())
            if quota > 0 and period > 0:
                return max(1, min(own, -(-quota // period)))
    return max(1, own)
