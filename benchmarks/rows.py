"""Rows, their intervals, and how they are shown."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. ``low`` and ``high`` bound a 95 % interval where there is one."""

    system: str
    unit: str
    metric: str
    value: float
    n: int = 1
    low: float | None = None
    high: float | None = None


def mean_row(system: str, unit: str, metric: str, values: Sequence[float], groups: Sequence[int] | None = None) -> Row:
    """Mean with a bootstrap interval, resampling values, or whole groups (conversations) when given."""
    data = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    if groups is None:
        samples = data[rng.integers(0, len(data), (RESAMPLES, len(data)))].mean(axis=1)
    else:
        names = np.unique(groups)
        sums = np.array([data[np.asarray(groups) == name].sum() for name in names])
        counts = np.array([(np.asarray(groups) == name).sum() for name in names])
        picks = rng.integers(0, len(names), (RESAMPLES, len(names)))
        samples = sums[picks].sum(axis=1) / counts[picks].sum(axis=1)
    low, high = np.quantile(samples, [0.025, 0.975])
    return Row(system, unit, metric, float(data.mean()), len(data), float(low), float(high))


def data_path(given: Path | None, *parts: str) -> Path:
    """``--data`` when given, else a place in ``COGVAULT_BENCH_DATA`` (default ``../shared/data``).

    Raises:
        SystemExit: there is nothing.
    """
    default = Path(os.environ.get("COGVAULT_BENCH_DATA", ROOT.parent / "shared" / "data"))
    path = given or default.joinpath(*parts)
    if not path.exists():
        raise SystemExit(f"no benchmark data at {path}: pass --data or set COGVAULT_BENCH_DATA")
    return path


def document(name: str, config: dict[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """The JSON document of one run."""
    return {
        "benchmark": name,
        "commit": _commit(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "python": platform.python_version()},
        "config": config,
        "rows": [asdict(row) for row in rows],
    }


def show(name: str, config: dict[str, object], rows: Sequence[Row], *, as_json: bool) -> None:
    """Print a run: one JSON document, or a table."""
    if as_json:
        sys.stdout.write(json.dumps(document(name, config, rows), indent=1) + "\n")
        return
    widths = [max(len(row.system) for row in rows), max(len(row.unit) for row in rows)]
    for row in rows:
        interval = "" if row.low is None else f"  [{row.low:.3f}, {row.high:.3f}]"
        name = f"{row.system:{widths[0]}}  {row.unit:{widths[1]}}  {row.metric:20}"
        sys.stdout.write(f"{name} {row.value:12.4f}  n={row.n}{interval}\n")


def note(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _commit() -> str:
    git = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return git.stdout.strip()


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
