"""Mapped files weigh no more on this process than a budget.

tantivy maps the keyword files. Whatever a search looks at stays mapped and counts as this process's memory, in the end
all of them. Who maps them anew when they weigh too much has nothing of them at first, and finds their pages in the
system's cache.
"""

from __future__ import annotations

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


class MappedBudget:
    """What mapped files may add to this process's memory. Nothing is ever exceeded but on Linux, which tells.

    Args:
        budget_bytes: that much above what others had mapped.
    """

    def __init__(self, budget_bytes: int) -> None:
        self._budget_bytes = budget_bytes
        self._others = mapped_bytes()

    def is_exceeded(self) -> bool:
        """Whether they are to be mapped anew; takes some microseconds."""
        held = mapped_bytes()
        self._others = min(self._others, held)
        return held - self._others > self._budget_bytes

    def settle(self) -> None:
        """They were mapped anew, or cannot be: what is there now is no longer asked for."""
        self._others = mapped_bytes()


def mapped_bytes() -> int:
    """Bytes of mapped files that count as this process's memory."""
    try:
        return int(_STATM.read_bytes().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
