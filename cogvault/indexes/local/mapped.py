"""Mapped files weigh no more on this process than a budget.

tantivy maps the keyword files. Whatever a search looks at stays mapped and counts as this process's memory, in the end
all of them. Beyond the budget the system is asked to page them out: it drops what no other process maps, and the next
search that wants it reads it from the disk, at about 20 microseconds for 64 KB. Pages that others map too, that are not
yet written, or that are in memory alone (tmpfs) stay.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_STATM = Path("/proc/self/statm")
_MAPS = Path("/proc/self/maps")
# MADV_PAGEOUT (Linux 5.4; the module mmap does not know it). Another thread may unmap a file once it was looked up, and
# its addresses may be anybody's by then. This advice loses no byte, whatever it meets; MADV_DONTNEED would.
_MADV_PAGEOUT = 21


def _find_madvise() -> Callable[[ctypes.c_void_p, ctypes.c_size_t, int], int] | None:
    if sys.platform != "linux":
        return None
    madvise: Callable[[ctypes.c_void_p, ctypes.c_size_t, int], int] | None
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    return madvise


_MADVISE = _find_madvise()


class MappedFolder:
    """Files of one folder that this process maps for reading. Does nothing but on Linux.

    Args:
        folder: theirs.
        budget_bytes: what they may take.
    """

    def __init__(self, folder: Path, budget_bytes: int) -> None:
        self._prefix = f"{folder.resolve()}/"
        self._budget_bytes = budget_bytes
        self._others = _file_bytes()

    def keep_to_budget(self) -> None:
        """Let go of all of them when they may take more; takes some microseconds when they do not.

        It takes 17 ms for 256 MB, and is done again only when as much came as the budget is.
        """
        held = _file_bytes()
        self._others = min(self._others, held)
        if held - self._others <= self._budget_bytes or _MADVISE is None:
            return
        for start, end in self._ranges():
            # An old system knows no such advice and does nothing; no harm comes of that.
            _MADVISE(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_PAGEOUT)
        # Whatever is left belongs to others, or cannot be let go of: it is not asked for again at every search.
        self._others = _file_bytes()

    def _ranges(self) -> Iterator[tuple[int, int]]:
        for line in _MAPS.read_text(errors="surrogateescape").splitlines():
            span, rights, *rest = line.split(maxsplit=5)
            if len(rest) == 4 and rest[3].startswith(self._prefix) and "w" not in rights:
                start, _, end = span.partition("-")
                yield int(start, 16), int(end, 16)


def _file_bytes() -> int:
    """Bytes of mapped files that count as this process's memory."""
    try:
        return int(_STATM.read_bytes().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
