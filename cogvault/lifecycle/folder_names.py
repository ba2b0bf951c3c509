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
# Folders whose last listing is kept.
_FOLDERS = 8
_NO_FOLDER = Stamp(0, 0, 0)


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
    """What was found in a folder, its stamp by then, when that was, in seconds, and what its user wrote since."""

    stamp: Stamp
    at: float
    everything: frozenset[str]
    clashing: frozenset[str]
    own: tuple[str, ...] = ()


class FolderNames:
    """Looks at the names in a folder before each write into it.

    Listing a folder of 10,000 files takes some 4 ms. So the last listing of each of a few folders serves as long as
    nobody but its user, who tells, changed the folder, and not for long. One thread at a time may use it: who holds the
    lock of writers.

    Args:
        clock: seconds from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._listings: dict[Path, _Listing] = {}

    def look(self, folder: Path, known: Callable[[], frozenset[str]]) -> Names:
        """The names now.

        Args:
            folder: it need not exist.
            known: the names that count as old when the folder was not among those looked at last.
        """
        last, now = self._listings.pop(folder, None), self._clock()
        appeared: frozenset[str] = frozenset()
        try:
            stamp = stamp_of(folder.stat())
            if last is None or last.stamp != stamp or now - last.at > _KEPT_SECONDS:
                found = frozenset(os.listdir(folder))  # noqa: PTH208 (paths of 10,000 files are not needed)
                appeared = found - (known() if last is None else last.everything)
                if last is not None:
                    appeared = appeared.difference(last.own)
                clashing = frozenset(fold(name) for name in found if name != name.lower())
                last = _Listing(stamp, now, found, clashing)
        except FileNotFoundError:  # all that is made in it appears
            last = _Listing(_NO_FOLDER, now, frozenset(), frozenset())
        except OSError:
            return Names()
        self._listings[folder] = last  # behind all others
        if len(self._listings) > _FOLDERS:
            del self._listings[next(iter(self._listings))]
        return Names(last.clashing, tuple(sorted(appeared)))

    def wrote(self, file: Path) -> None:
        """A file was made just now in a folder that was looked at."""
        folder, name = file.parent, file.name
        last = self._listings.get(folder)
        if last is None:
            return
        try:
            stamp = stamp_of(folder.stat())
        except OSError:
            del self._listings[folder]
            return
        clashing = last.clashing if name == name.lower() else last.clashing | {fold(name)}
        self._listings[folder] = replace(last, stamp=stamp, clashing=clashing, own=(*last.own, name))
