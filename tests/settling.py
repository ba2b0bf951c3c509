"""Wait for what a file system cannot tell apart."""

from __future__ import annotations

import time
from pathlib import Path

from cogvault.indexing.reading import is_trusted
from cogvault.indexing.scan import stamp_of


def settle(folder: Path) -> None:
    """Wait until a sync trusts the stamps of the files below; else the next one reads and notes them once more."""
    files = [path for path in folder.rglob("*.md") if path.is_file()]
    while not all(is_trusted(stamp_of(path.stat()), time.time_ns()) for path in files):
        time.sleep(0.005)
