"""Files that writers make beside a card before they give them its name, and that a kill left: they hold its text.

Only files whose writer is gone are taken away: a process of this machine that runs no more. Those of other machines,
which may write the same folder over a network, and of systems where that cannot be asked, go when they are a day old;
so do those whose process seems to run, for its number may be another's by now, as after every start of a container.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cogvault.cards.paths import is_usable_name
from cogvault.cards.writer import writer_of
from cogvault.indexing.folders import ScanOptions

__all__ = ["clear_leftovers"]

logger = logging.getLogger(__name__)

_MAX_AGE_SECONDS = 86_400.0


def clear_leftovers(root: Path, options: ScanOptions) -> int:
    """Delete what killed writers left in the folders of a vault; how many files. Held is the lock of its writers.

    Args:
        root: the vault.
        options: which of its folders are walked.
    """
    count = 0
    for file in _temps(root, options):
        with contextlib.suppress(OSError):
            if _is_left(file):
                file.unlink()
                count += 1
    if count:
        logger.info("%s: %d files of writers that were killed are deleted", root, count)
    return count


def _temps(root: Path, options: ScanOptions) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        place = Path(folder).relative_to(root).as_posix()
        inner = "" if place == "." else f"{place}/"
        folders[:] = [name for name in folders if is_usable_name(name) and options.walks(f"{inner}{name}/")]
        yield from (Path(folder, name) for name in names if writer_of(name) is not None)


def _is_left(file: Path) -> bool:
    pid = writer_of(file.name)
    if pid and os.name != "nt" and not _runs(pid):
        return True
    return time.time() - file.stat().st_mtime > _MAX_AGE_SECONDS


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
