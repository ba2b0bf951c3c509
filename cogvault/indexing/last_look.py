"""When a process last looked at all files of a vault and made the index equal to them, so that no other need do it."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import socket
import zlib
from pathlib import Path

__all__ = ["LastLook"]

_log = logging.getLogger(__name__)


class LastLook:
    """A small private file of the index folder. What is lost, damaged, or of another kind of look is not known.

    Args:
        folder: the index folder of the vault.
        kind: what else than the files decides what a look finds: another kind tells this one nothing. A look on another
            machine is of another kind too, as clocks differ.
        process: number of this process, None = its id. It knows its own looks already.
    """

    def __init__(self, folder: Path, kind: str, process: int | None = None) -> None:
        self._path = folder / "last-look"
        self._process = os.getpid() if process is None else process
        self._kind = hashlib.sha256(f"{socket.gethostname()} {kind}".encode(errors="surrogatepass")).hexdigest()

    def keep(self, began_ns: int, sequence: int) -> None:
        """A look has ended just now.

        Args:
            began_ns: when it began, nanoseconds since the epoch: what changed later it may not have seen.
            sequence: of the index, which holds what was found.
        """
        try:
            # Always as long, so that no reader finds it empty; of two at once the checksum tells.
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(self._line(self._process, sequence, began_ns))
                file.truncate()  # of a damaged one that was longer
        except OSError as error:  # others look for themselves
            _log.debug("the time of the look was not kept: %s", error)

    def age_seconds(self, now_ns: int, sequence: int) -> float | None:
        """How long ago another process began a look of which an index holds what was found; None = not known.

        Args:
            now_ns: nanoseconds since the epoch.
            sequence: of the index; one before that of the look is that of an older index, put back or made anew.
        """
        with contextlib.suppress(OSError, ValueError):
            line = self._path.read_bytes()
            process, reached, began = map(int, line.split()[1:4])
            is_other = line == self._line(process, reached, began) and process != self._process
            if is_other and reached <= sequence and began <= now_ns:
                return (now_ns - began) / 1e9
        return None

    def _line(self, process: int, sequence: int, began_ns: int) -> bytes:
        text = f"{self._kind} {process:020} {sequence:020} {began_ns:020}".encode("ascii")
        return text + f" {zlib.crc32(text):08x}\n".encode("ascii")
