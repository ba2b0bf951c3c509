"""Names that differ in case only: two files here, and one where case is not told apart."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cogvault.indexing.scan import stamp_of
from cogvault.text.normalise import fold
from cogvault.types import Stamp

__all__ = ["OtherCase"]

# A file that another program makes at the very moment of a write of ours hides behind it, but not for longer.
_KEPT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Listing:
    """What was found in a folder, the folder's stamp by then, and when that was, in seconds."""

    folder: Path
    stamp: Stamp
    at: float
    names: frozenset[str]


class OtherCase:
    """Finds the names in a folder that one in lower case would clash with.

    Listing a folder of 10,000 files takes some 4 ms. So the last listing serves as long as nobody but its user, who
    tells, changed the folder, and not for long. One thread at a time may use it: who holds the lock of writers.

    Args:
        clock: seconds from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: _Listing | None = None

    def names(self, folder: Path) -> frozenset[str]:
        """Folded names of the files whose names are not in lower case."""
        last, now = self._last, self._clock()
        try:
            stamp = stamp_of(folder.stat())
            if last is None or (last.folder, last.stamp) != (folder, stamp) or now - last.at > _KEPT_SECONDS:
                found = os.listdir(folder)  # noqa: PTH208 (paths of 10,000 files are not needed)
                names = frozenset(fold(name) for name in found if name != name.lower())
                last = _Listing(folder, stamp, now, names)
        except OSError:  # no folder yet
            self._last = None
            return frozenset()
        self._last = last
        return last.names

    def wrote(self, name: str) -> None:
        """A file of this name was made just now in the folder that was asked for last."""
        last = self._last
        if last is None:
            return
        try:
            stamp = stamp_of(last.folder.stat())
        except OSError:
            self._last = None
            return
        names = last.names if name == name.lower() else last.names | {fold(name)}
        self._last = replace(last, stamp=stamp, names=names)
