"""The file by which clients find a daemon: its socket, or what tells its port and token."""

from __future__ import annotations

import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from cogvault.errors import DaemonError

__all__ = ["Place", "clear"]


@dataclass(frozen=True, slots=True)
class Place:
    """Such a file, as this daemon made it.

    Attributes:
        path: where it is.
        made: device and inode.
    """

    path: Path
    made: tuple[int, int]

    @classmethod
    def of(cls, path: Path) -> Place:
        """The file that was made there just now."""
        return cls(path, _id(path.lstat()))

    def is_ours(self) -> bool:
        """False when it was removed or replaced, or lies elsewhere by now: then nobody finds this daemon."""
        try:
            return _id(self.path.lstat()) == self.made
        except OSError:
            return False

    def remove(self) -> None:
        """Remove it, if it still is this daemon's."""
        if self.is_ours():
            self.path.unlink(missing_ok=True)


def clear(path: Path) -> bool:
    """Remove the socket of a daemon that crashed; False when somebody listens there.

    Nobody should, as the daemon that does holds the lock; but who cleans temporary folders may remove a lock's file.

    Raises:
        DaemonError: it is no socket of this user.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return True
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise DaemonError("something that is no socket of ours is in the way", path=path, hint="move it away")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.setblocking(False)  # one whose queue is full listens too
        try:
            asked.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return True
        except BlockingIOError:
            return False
    return False


def _id(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
