"""The names in the folder that is written into: those that a new one would clash with, and those that are new."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cogvault.indexing.scan import stamp_of
from cogvault.text.normalise import fold
from cogvault.types import Stamp

__all__ = ["FolderNames", "Names"]

# A file that another program makes at the very moment of a write of ours hides behind it, but not for longer.
_KEPT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Names:
    """What is in a folder.

    Attributes:
        clashing: folded names of the files whose names are not in lower case: two files here, and one where case is not
            told apart.
        appeared: names that were not there before and that its user did not tell, in order.
    """

    clashing: frozenset[str] = frozenset()
    appeared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Listing:
    """What was found in a folder, the folder's stamp by then, and when that was, in seconds."""

    folder: Path
    stamp: Stamp
    at: float
    everything: frozenset[str]
    clashing: frozenset[str]
    own: frozenset[str] = frozenset()


class FolderNames:
    """Looks at the names in a folder before each write into it.

    Listing a folder of 10,000 files takes some 4 ms. So the last listing serves as long as nobody but its user, who
    tells, changed the folder, and not for long. One thread at a time may use it: who holds the lock of writers.

    Args:
        clock: seconds from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: _Listing | None = None

    def look(self, folder: Path, known: Callable[[], frozenset[str]]) -> Names:
        """The names now.

        Args:
            folder: it need not exist.
            known: the names that count as old when another folder was looked at last.
        """
        last, now = self._last, self._clock()
        appeared: frozenset[str] = frozenset()
        try:
            stamp = stamp_of(folder.stat())
            if last is None or (last.folder, last.stamp) != (folder, stamp) or now - last.at > _KEPT_SECONDS:
                found = frozenset(os.listdir(folder))  # noqa: PTH208 (paths of 10,000 files are not needed)
                is_other = last is None or last.folder != folder
                appeared = found - (known() if is_other or last is None else last.everything | last.own)
                clashing = frozenset(fold(name) for name in found if name != name.lower())
                last = _Listing(folder, stamp, now, found, clashing)
        except OSError:  # no folder yet
            self._last = None
            return Names()
        self._last = last
        return Names(last.clashing, tuple(sorted(appeared)))

    def wrote(self, name: str) -> None:
        """A file of this name was made just now in the folder that was looked at last."""
        last = self._last
        if last is None:
            return
        try:
            stamp = stamp_of(last.folder.stat())
        except OSError:
            self._last = None
            return
        clashing = last.clashing if name == name.lower() else last.clashing | {fold(name)}
        self._last = replace(last, stamp=stamp, clashing=clashing, own=last.own | {name})
