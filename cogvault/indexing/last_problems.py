"""What the last look at the files left out or could not index, kept for whoever asks in another process."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from cogvault.errors import IndexFault
from cogvault.indexing.locking import hold
from cogvault.types import Problem

__all__ = ["LastProblems"]

_FILE = "problems.json"
_WAIT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class LastProblems:
    """A small private file of the index folder, whole at any instant; a damaged one is thrown away.

    Args:
        folder: the index folder of the vault.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._failed: tuple[tuple[int, ...], tuple[Problem, ...]] = ((), ())

    def read(self) -> tuple[Problem, ...] | None:
        """The problems in the order in which they were found, None = not known."""
        kept = self._read()
        return None if kept is None else tuple(kept)

    def failed(self) -> tuple[Problem, ...]:
        """Those of them that are files which could not be indexed."""
        try:
            status = self._path.stat()
        except OSError:
            return ()
        if status.st_size <= len(b"[]"):
            return ()
        stamp = status.st_ino, status.st_size, status.st_mtime_ns
        if self._failed[0] != stamp:  # each search asks, and there may be many
            kept = self._read() or {}
            self._failed = stamp, tuple(problem for problem, is_failed in kept.items() if is_failed)
        return self._failed[1]

    def keep(
        self, failed: Iterable[Problem], others: Iterable[Problem], looked_at: Callable[[str], bool] | None = None
    ) -> None:
        """Keep what a look found.

        Args:
            failed: files that could not be indexed.
            others: what was left out.
            looked_at: True for a path that was looked at: only what was found of it is true. What is known of others
                stays. None = all were looked at.
        """
        found = dict.fromkeys(failed, True)
        found = found | dict.fromkeys((problem for problem in others if problem not in found), False)

        def now(before: Mapping[Problem, bool] | None) -> dict[Problem, bool]:
            if looked_at is None or before is None:
                return found
            return {problem: is_failed for problem, is_failed in before.items() if not looked_at(problem.path)} | found

        before = self._read()
        if now(before) == (before if looked_at is None else before or {}):  # some files do not make it known
            return
        try:
            with hold(self._path.with_suffix(".lock"), _WAIT_SECONDS) as held:
                if held:
                    self._write(now(self._read()))
        except (OSError, IndexFault) as error:  # only what status tells in other processes is lost
            _log.warning("the problems of the sync were not kept: %s", error)

    def _read(self) -> dict[Problem, bool] | None:
        try:
            data = self._path.read_bytes()
        except OSError:
            return None
        try:
            return dict(_entry(item) for item in json.loads(data))
        except (ValueError, TypeError) as error:
            _log.warning("%s is damaged and is thrown away: %s", self._path, error)
            self._drop()
            return None

    def _write(self, problems: Mapping[Problem, bool]) -> None:
        temp = self._path.with_suffix(".tmp")  # one name, which the lock guards: a kill leaves no second one
        entries = [{**asdict(problem), "failed": is_failed} for problem, is_failed in problems.items()]
        data = json.dumps(entries).encode("ascii")
        with os.fdopen(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temp.replace(self._path)

    def _drop(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s is still there: %s", self._path, error)


def _entry(item: object) -> tuple[Problem, bool]:
    """One entry, and whether it is a file that could not be indexed.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(item, dict):
        raise TypeError("an entry is no object")
    is_failed = item.pop("failed", False)
    problem = Problem(**item)
    texts = (problem.path, problem.code, problem.message)
    if not all(isinstance(text, str) for text in texts) or not isinstance(problem.line, int | None):
        raise TypeError("an entry has values of other kinds")
    if not isinstance(problem.key, str | None) or not isinstance(is_failed, bool):
        raise TypeError("a key is no text")
    return problem, is_failed
