"""What a vault's index folder remembers of the last sync: when it was, and which folder was synced."""

from __future__ import annotations

import logging
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from cogvault.config import make_private
from cogvault.indexes import make_room

__all__ = ["LastSync", "RootId"]

_log = logging.getLogger(__name__)

# Device and inode of the vault's folder: another one, when a disk was mounted or taken away there.
RootId: TypeAlias = tuple[int, int]


class LastSync:
    """A small file; its time is when the keyword part last became equal to the files. What is lost is not known.

    Args:
        folder: the index folder of the vault, or that of what is known of another index.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "last-sync"

    def at(self) -> datetime | None:
        """When it was, None = never."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return datetime.fromtimestamp(status.st_mtime, UTC) if stat.S_ISREG(status.st_mode) else None

    def root(self) -> RootId | None:
        """The folder that was synced, None = not known."""
        try:
            device, inode = self._path.read_text("ascii").split()
            return int(device), int(inode)
        except (OSError, ValueError):
            return None

    def forget(self) -> None:
        """The index begins anew: until a sync of it ends, it was never equal to the files."""
        try:
            make_room(self._path)
            self._path.unlink(missing_ok=True)
        except OSError as error:  # as below
            _log.warning("the time of the last sync is still there: %s", error)

    def keep(self, root: RootId) -> None:
        """A sync of this folder has ended just now."""
        try:
            make_private(self._path.parent)
            make_room(self._path)
            if self.root() == root:
                self._path.touch()
            else:
                self._path.write_text(f"{root[0]} {root[1]}\n", "ascii")
        except OSError as error:  # only a time to show, and a safeguard, are lost
            _log.warning("the time of the sync was not kept: %s", error)
