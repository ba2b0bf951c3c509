"""Bytes of regular files. A pipe in the place of one would be waited for until somebody wrote into it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["read_regular"]

# Opening does not wait either; neither flag exists on Windows, nor do pipes among files.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def read_regular(path: Path, max_bytes: int = -1) -> bytes:
    """All bytes of a file, or its first ones.

    Args:
        path: the file, or a link to it.
        max_bytes: how many at most, -1 = all.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(None, "not a regular file")
        return file.read(max_bytes)
