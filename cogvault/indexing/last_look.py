"""When a process last looked at all files of a vault and made the index equal to them, so that no other need do it."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import zlib
from pathlib import Path

from cogvault.indexing.machine_clock import MachineClock, machine_clock

__all__ = ["LastLook"]

_log = logging.getLogger(__name__)


class LastLook:
    """A small private file of the index folder. What is lost, damaged, or of another kind of look is not known.

    Args:
        folder: the index folder of the vault.
        kind: what else than the files decides what a look finds: another kind tells this one nothing. A look by another
            clock, as of another machine, is of another kind too.
        process: number of this process, None = its id. It knows its own looks already.
        clock: by which looks are told, None = that of this machine. Where that is the wall clock, and it is put back
            after a look, the look passes as younger by as much, or is not known while it lies ahead.
        is_shared: False = for who has an index that no other process has: it tells nothing, and relies on nobody.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        process: int | None = None,
        clock: MachineClock | None = None,
        *,
        is_shared: bool = True,
    ) -> None:
        self._is_shared = is_shared
        self._path = folder / "last-look"
        self._process = os.getpid() if process is None else process
        clock = clock or machine_clock()
        self.now_ns = clock.now_ns
        self._kind = hashlib.sha256(f"{clock.name} {kind}".encode(errors="surrogatepass")).hexdigest()

    def keep(self, began_ns: int, sequence: int) -> None:
        """A look has ended just now.

        Args:
            began_ns: when it began, by ``now_ns``: what changed later it may not have seen.
            sequence: of the index, which holds what was found.
        """
        if not self._is_shared:
            return
        try:
            # Always as long, so that no reader finds it empty; of two at once the checksum tells.
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(self._line(self._process, sequence, began_ns))
                file.truncate()  # of a damaged one that was longer
        except OSError as error:  # others look for themselves
            _log.debug("the time of the look was not kept: %s", error)

    def age_seconds(self, sequence: int) -> float | None:
        """How long ago another process began a look of which an index holds what was found; None = not known.

        Args:
            sequence: of the index; one before that of the look is that of an older index, put back or made anew.
        """
        with contextlib.suppress(OSError, ValueError):
            line = self._path.read_bytes()
            process, reached, began = map(int, line.split()[1:4])
            now_ns = self.now_ns()
            is_other = line == self._line(process, reached, began) and process != self._process
            if self._is_shared and is_other and reached <= sequence and began <= now_ns:
                return (now_ns - began) / 1e9
        return None

    def _line(self, process: int, sequence: int, began_ns: int) -> bytes:
        text = f"{self._kind} {process:020} {sequence:020} {began_ns:020}".encode("ascii")
        return text + f" {zlib.crc32(text):08x}\n".encode("ascii")
