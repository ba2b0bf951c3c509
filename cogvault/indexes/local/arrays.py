"""Array arithmetic that numpy has no name for. Pure."""

from __future__ import annotations

import numpy as np

from cogvault.types import IntArray


def ranges(first: IntArray, counts: IntArray) -> IntArray:
    """``first[i], first[i] + 1, …`` (``counts[i]`` numbers) for each i, one after another."""
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(counts.sum())
