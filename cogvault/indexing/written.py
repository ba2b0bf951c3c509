"""Paths that cogvault wrote into a vault and no index knows yet, told to all objects and processes that use it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Written", "WrittenPaths"]

_log = logging.getLogger(__name__)

# Whoever takes lines out does so while others add: they add again what may have been taken with them.
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Written:
    """What was told at one time.

    Attributes:
        paths: as others told them.
        data: the lines of the file that they were read from.
    """

    paths: frozenset[str] = frozenset()
    data: bytes = b""


class WrittenPaths:
    """A small private file of the index folder, gone most of the time: the sync that has seen the paths takes them out.

    Where it cannot be written or is lost, others see what was written when they look at all files again.

    Args:
        folder: the index folder of the vault.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "written"
        self._taken = folder / "written.taken"
        self._teller = os.urandom(8).hex()

    def add(self, paths: Iterable[str]) -> None:
        """These paths were written just now."""
        line = json.dumps([self._teller, os.urandom(8).hex(), *paths])  # no two lines are the same
        self._append(f"\n{line}\n".encode())  # behind a line that a kill cut off

    def read(self) -> Written:
        """What was told and not taken out yet. What this object told itself is none of the paths."""
        try:
            if not self._path.stat().st_size:
                return Written()
            data = self._path.read_bytes()
        except OSError:
            return Written()
        whole = data[: data.rfind(b"\n") + 1]
        paths: set[str] = set()
        for line in whole.splitlines():
            teller, *told = _parts_of(line)
            paths.update(() if teller == self._teller else told[1:])
        return Written(frozenset(paths), whole)

    def take(self, seen: Written) -> None:
        """Take out what was seen, and leave what came since. Only while nobody else does (the lock of syncs)."""
        if not seen.data:
            return
        try:
            self._path.replace(self._taken)
            data = self._taken.read_bytes()
            self._append(data.removeprefix(seen.data))
            self._taken.unlink()
        except OSError as error:  # it is seen again
            _log.debug("written paths were not taken out: %s", error)

    def _append(self, data: bytes) -> None:
        try:
            for _ in range(_ATTEMPTS if data else 0):
                with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", 0) as file:
                    file.write(data)
                    if self._is_there(os.fstat(file.fileno())):
                        return
        except OSError as error:  # others look for themselves
            _log.debug("written paths were not told: %s", error)

    def _is_there(self, written: os.stat_result) -> bool:
        try:
            return os.path.samestat(written, self._path.stat())
        except FileNotFoundError:
            return False


def _parts_of(line: bytes) -> list[str]:
    """Teller, mark and paths of a line; of one that is damaged or empty nobody told anything."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return [""]
    is_told = isinstance(told, list) and bool(told) and all(isinstance(part, str) for part in told)
    return told if is_told else [""]
