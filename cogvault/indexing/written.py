"""Paths that cogvault wrote into a vault and no index knows yet, told to all objects and processes that use it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cogvault.indexes import make_room

__all__ = ["Written", "WrittenPaths"]

_log = logging.getLogger(__name__)

# Whoever takes lines out does so while others add: they add again what may have been taken with them.
_ATTEMPTS = 10
# A larger file takes longer to read than a look at all files of most vaults.
_LARGEST_BYTES = 64 << 10
_EVERYWHERE = "."
_SHORT = "written.short-"


@dataclass(frozen=True, slots=True)
class Written:
    """What was told at one time.

    Attributes:
        paths: as others told them; ``.`` = any.
        lines: of the file that they were read from, with the paths of each.
    """

    paths: frozenset[str] = frozenset()
    lines: Mapping[bytes, frozenset[str]] = field(default_factory=dict)

    def among(self, paths: Iterable[str]) -> Written:
        """The lines of which all paths are among these."""
        if not self.lines:
            return self
        looked_at = frozenset(paths)
        lines = {line: told for line, told in self.lines.items() if told <= looked_at}
        return Written(frozenset().union(*lines.values()), lines)


class WrittenPaths:
    """A small private file of the index folder, gone most of the time: the sync that has seen the paths takes them out.

    Where it cannot be written or is lost, others see what was written when they look at all files again.

    Args:
        folder: the index folder of the vault.
        is_shared: False = for who has an index elsewhere: it tells the users of the folder's index, and takes nothing
            away from them.
    """

    def __init__(self, folder: Path, *, is_shared: bool = True) -> None:
        self._is_shared = is_shared
        self._path = folder / "written"
        self._taken = folder / "written.taken"
        self._teller = os.urandom(8).hex()

    def add(self, paths: Iterable[str]) -> None:
        """These paths were written just now."""
        try:
            is_told = self._append(_line(self._teller, *paths))
        except OSError as error:  # others look for themselves, as they do when one is killed before it has told
            _log.debug("written paths were not told: %s", error)
        else:
            if not is_told:
                _log.debug("written paths were not told: the file was exchanged each time")

    def read(self) -> Written:
        """What was told and not taken out yet. What this object told itself is none of the paths."""
        lines: dict[bytes, frozenset[str]] = {}
        # The way of a line while others are taken out, which a kill may end.
        for path in (self._path, self._taken, self._path) if self._is_shared else ():
            lines |= self._lines_of(path)
        return Written(frozenset().union(*lines.values()), lines) if lines else Written()

    def take(self, seen: Written) -> None:
        """Take out the lines that were seen, and leave the others. Only while nobody else does (the lock of syncs)."""
        if not seen.lines:
            return
        try:
            make_room(self._taken)
            if not self._put_back(seen):  # of one that was killed at it: what is left there is read as well
                return
            with contextlib.suppress(FileNotFoundError):
                self._path.replace(self._taken)
            self._put_back(seen)
            self._clear()
        except OSError as error:  # it is seen again
            _log.debug("written paths were not taken out: %s", error)

    def _lines_of(self, path: Path) -> dict[bytes, frozenset[str]]:
        try:
            data = path.read_bytes() if path.stat().st_size else b""
        except OSError:
            return {}
        lines: dict[bytes, frozenset[str]] = {}
        for line in filter(None, data[: data.rfind(b"\n") + 1].split(b"\n")):
            teller, *told = _parts_of(line)
            lines[line] = frozenset(() if teller == self._teller else told[1:])
        return lines

    def _put_back(self, seen: Written) -> bool:
        """Tell again what was set apart and not seen; told twice, it is one line all the same. False = it still is."""
        try:
            data = self._taken.read_bytes()
        except FileNotFoundError:
            return True
        left = [line for line in data.split(b"\n") if line and line not in seen.lines]
        if left and not self._append(b"\n%s\n" % b"\n".join(left)):
            return False
        self._taken.unlink()
        return True

    def _append(self, data: bytes) -> bool:
        """Add lines to the file that others read; False = it was another one each time.

        Raises:
            OSError: it cannot be written.
        """
        for _ in range(_ATTEMPTS):
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", 0) as file:
                file.write(data)
                written = os.fstat(file.fileno())
                is_there = self._is_there(written)  # while it is open, no other can be taken for it
            if is_there:
                if written.st_size > _LARGEST_BYTES:
                    self._shorten()
                return True
        return False

    def _shorten(self) -> None:
        """Put one line in place of all, which covers them. It is a new one, so that no look that began before takes it
        out; who adds to the former file meanwhile finds that it is gone, and adds again."""
        beside = self._path.with_name(f"{_SHORT}{os.urandom(8).hex()}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", 0) as file:
            file.write(_line("", _EVERYWHERE))  # nobody's, as its teller does not know what others told
        beside.replace(self._path)

    def _clear(self) -> None:
        """Delete what one who was killed left beside the file; who is at it fails, and leaves the file as long."""
        for left in self._path.parent.glob(f"{_SHORT}*"):
            left.unlink(missing_ok=True)

    def _is_there(self, written: os.stat_result) -> bool:
        try:
            return os.path.samestat(written, self._path.stat())
        except FileNotFoundError:
            return False


def _line(teller: str, *paths: str) -> bytes:
    """A line like no other, behind one that a kill cut off."""
    return f"\n{json.dumps([teller, os.urandom(8).hex(), *paths])}\n".encode()


def _parts_of(line: bytes) -> list[str]:
    """Teller, mark and paths of a line; of one that is damaged or empty nobody told anything."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return [""]
    is_told = isinstance(told, list) and bool(told) and all(isinstance(part, str) for part in told)
    return told if is_told else [""]
