"""What kind of disk a folder lies on."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["file_system_of", "is_network", "mounts_text"]

# 9p and drvfs are how virtual machines and WSL share folders of their host, which is as far away as a server.
_NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"),
        *("prl_fs", "rclone", "s3fs", "smb3", "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs", "vmhgfs-fuse"),
    )
)
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def mounts_text() -> str:
    """What Linux says is mounted where; "" elsewhere."""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def file_system_of(folder: Path, mounts: str) -> str:
    """Type of the file system that a folder lies on, "" when unknown.

    Args:
        folder: absolute, without symbolic links.
        mounts: as in ``/proc/self/mountinfo``.

    >>> mounts = "31 1 0:26 / / rw - ext4 /dev/sda rw\\n40 31 0:40 / /srv rw - nfs4 host:/ rw"
    >>> file_system_of(Path("/srv/notes"), mounts)
    'nfs4'
    """
    deepest, found = 0, ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        place = Path(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        # Of two mounts on one place the later one hides the earlier.
        if len(place.parts) >= deepest and folder.is_relative_to(place):
            deepest, found = len(place.parts), after.split(" ")[0]
    return found


def is_network(file_system: str) -> bool:
    """True for file systems that other machines write to, so that this one is not told of every change.

    >>> [is_network(name) for name in ("nfs4", "fuse.sshfs", "ext4", "fuse.gocryptfs", "")]
    [True, True, False, False, False]
    """
    return file_system.removeprefix("fuse.") in _NETWORK
