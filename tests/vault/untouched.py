"""Everything that can be seen of a folder without opening it for writing."""

from __future__ import annotations

import os
from pathlib import Path


def tree(root: Path) -> dict[str, tuple[int, int, int, int, bytes]]:
    """Mode, inode, modification and change time, and bytes, by path; folders and links included."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files, "."):
            path = Path(folder, name)
            info = path.lstat()
            content = b""
            if path.is_symlink():
                content = os.fsencode(path.readlink())
            elif path.is_file():
                content = path.read_bytes()
            found[str(path)] = (info.st_mode, info.st_ino, info.st_mtime_ns, info.st_ctime_ns, content)
    return found
