"""One file to bytes that belong together, with a stamp that can be trusted."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cogvault.indexing.scan import stamp_of
from cogvault.types import Stamp

__all__ = ["FileBytes", "is_trusted", "read_file"]

# No change time is negative, so a stamp with this one equals no stamp of a scan: the file is read again next time.
_UNTRUSTED = -1
_TRIES = 3
_BLOCK = 1 << 20
# Not through a symbolic link, and without waiting should the file have become a pipe; neither exists on Windows.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
# File systems count in whole seconds, in two (FAT), or in nanoseconds that advance with the system's ticks.
_COARSE_NS = 2_100_000_000
_FINE_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file's content at one moment.

    Attributes:
        data: its bytes, at most as many as asked for, cut on a character boundary of UTF-8.
        hash: hex SHA-256 of all its bytes.
        stamp: its stamp at that moment, made unequal to any other when the file may change again without a sign.
        cut: True when ``data`` is not all.
    """

    data: bytes
    hash: str
    stamp: Stamp
    cut: bool


def read_file(path: Path, max_bytes: int, now_ns: Callable[[], int]) -> FileBytes:
    """Read a file so that content and stamp belong together.

    A file that changes under the reader is read again, a few times; then what was read last is given with a stamp that
    makes the next sync read it once more.

    Args:
        path: a regular file, no symbolic link.
        max_bytes: keep no more than this; all is hashed.
        now_ns: clock, nanoseconds since the epoch.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    for _ in range(_TRIES):
        started_ns = now_ns()
        handle = os.open(path, _FLAGS)
        try:
            before = _regular(handle)
            data, digest = _read(handle, max_bytes)
            after = _regular(handle)
        finally:
            os.close(handle)
        if before == after:
            break
    trusted = before == after and is_trusted(before, started_ns)
    kept = data if len(data) <= max_bytes else _cut(data, max_bytes)
    return FileBytes(kept, digest, before if trusted else replace(after, ctime_ns=_UNTRUSTED), len(kept) < len(data))


def is_trusted(stamp: Stamp, read_ns: int) -> bool:
    """True when a change after ``read_ns`` must give another stamp: the last change is older than a tick of the clock.

    Args:
        stamp: of the file.
        read_ns: when reading began, nanoseconds since the epoch.
    """
    last_ns = stamp.ctime_ns or stamp.mtime_ns
    tick_ns = _FINE_NS if last_ns % 1_000_000 else _COARSE_NS
    return last_ns + tick_ns <= read_ns


def _regular(handle: int) -> Stamp:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(None, "not a regular file")
    return stamp_of(status)


def _read(handle: int, max_bytes: int) -> tuple[bytes, str]:
    """Bytes up to one block over the cap, and the hash of all."""
    digest = hashlib.sha256()
    blocks: list[bytes] = []
    kept = 0
    while block := os.read(handle, _BLOCK):
        digest.update(block)
        if kept <= max_bytes:
            blocks.append(block)
            kept += len(block)
    return b"".join(blocks), digest.hexdigest()


def _cut(data: bytes, max_bytes: int) -> bytes:
    end = max_bytes
    while end > max_bytes - 4 and end > 0 and data[end] & 0xC0 == 0x80:  # inside a character of UTF-8
        end -= 1
    return data[:end]
