"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable


def _find_trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has it
    return trim


_TRIM = _find_trim()


def give_back() -> None:
    """Let the C library give freed memory back, where it can; takes 1 to 2 ms.

    tantivy makes threads for each commit. glibc gives new threads one of up to eight heaps a CPU, and keeps in each
    what was freed there: without this a process that commits all the time comes to hold a few hundred MB.
    """
    if _TRIM is not None:
        _TRIM(0)
