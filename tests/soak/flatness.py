"""Whether a series of samples is flat."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Median of the slopes between all pairs of samples (Theil 1950, Sen 1968): single outliers do not move it.

    Args:
        times: (n,) when; not all alike.
        values: (n,) what was measured then.

    Returns:
        Units of ``values`` for each unit of ``times``; 0.0 for fewer than two samples.
    """
    slopes = [
        (values[later] - values[earlier]) / (times[later] - times[earlier])
        for earlier in range(len(times))
        for later in range(earlier + 1, len(times))
        if times[later] != times[earlier]
    ]
    return statistics.median(slopes) if slopes else 0.0
