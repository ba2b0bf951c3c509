"""Keep what was said: new turns of a transcript go to the vault's session of the same name, each exactly once.

How far the transcript was kept, and what stands there, is noted before turns are written ("pending") and after. A note
that still says pending was left by a process that died in between; one that something else stands at is of another
transcript. Then the session itself says which turns it has, by their anchors.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock

from cogvault import Vault, redact
from cogvault.client import RemoteVault
from cogvault.config import resolve
from cogvault.types import Turn
from cogvault_cli.hooks.event import Event
from cogvault_cli.hooks.state import StateFile, make_private
from cogvault_cli.hooks.transcript import ANCHOR, MAX_CHARS, said

__all__ = ["capture"]

# Another event of the same session is at work meanwhile, and keeps the same turns.
LOCK_SECONDS = 3.0
# Nobody says so much: a longer line is a tool's result, or no transcript's.
MAX_LINE_BYTES = 32 << 20
# Turns that are written in one go.
_BATCH = 200
# Four in UTF-8, and room for what is written around a turn.
_BYTES_PER_CHAR = 8
_LEAST_CHARS = 500
# Of what was kept last, so much tells one transcript from another.
_MARK_BYTES = 4096


def capture(event: Event, vault: Vault | RemoteVault, state: StateFile) -> int:
    """Append what is new; the number of turns.

    Args:
        event: with a transcript.
        vault: the vault, in this process or the daemon's.
        state: how far the session's transcript was kept.

    Raises:
        OSError: the transcript or the state cannot be read or written.
        ValueError: the transcript is no regular file.
        CogvaultError: a turn cannot be written.
        filelock.Timeout: another capture of the session does not end.
    """
    make_private(state.path.parent)
    with FileLock(state.path.with_suffix(".lock")).acquire(timeout=LOCK_SECONDS):
        return _capture(Path(event.transcript), event.session, vault, state)


def _capture(transcript: Path, name: str, vault: Vault | RemoteVault, state: StateFile) -> int:
    if not transcript.is_file():  # a pipe or device may never end
        raise ValueError(f"the transcript is no regular file: {transcript}")
    with transcript.open("rb") as file:
        start = _noted(state.read(), file)
        is_sure = start is not None
        lines = _Lines(file, start or 0)
        turns = said(lines, _max_chars(vault.path))
        session = vault.session(name)
        turns = _once(turns, set() if is_sure else {turn.meta.get(ANCHOR) for turn in session.turns()})
        state.write({"pending": True})
        count = 0
        while batch := [replace(turn, text=redact(turn.text)) for turn in islice(turns, _BATCH)]:
            session.append_many(batch)
            count += len(batch)
        state.write({"offset": lines.end, "mark": _mark(file, lines.end), "pending": False})
    return count


def _noted(note: dict[str, Any], file: BinaryIO) -> int | None:
    """How far this transcript was kept, None = not known."""
    offset = note.get("offset")
    if (
        not isinstance(offset, int)
        or not 0 <= offset <= os.fstat(file.fileno()).st_size
        or note.get("pending") is not False
    ):
        return None
    return offset if note.get("mark") == _mark(file, offset) else None


def _mark(file: BinaryIO, end: int) -> str:
    """A hash of what stands before an offset."""
    start = max(0, end - _MARK_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(end - start)).hexdigest()


def _once(turns: Iterable[Turn], kept: set[object]) -> Iterator[Turn]:
    """Those that are not kept yet; a transcript that was put together again may hold a message twice."""
    for turn in turns:
        if (anchor := turn.meta[ANCHOR]) not in kept:
            kept.add(anchor)
            yield turn


def _max_chars(folder: Path) -> int:
    """So many of a turn as fit into a card of the vault whatever they are; more would not be kept at all."""
    return max(_LEAST_CHARS, min(MAX_CHARS, resolve(folder, None, os.environ).config.max_card_bytes // _BYTES_PER_CHAR))


class _Lines:
    """Whole lines of a file from an offset on; one that is being written just now is left for the next time.

    One that is too long is left out, and never held whole.

    Attributes:
        end: where the first line that was not read begins.
    """

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._file.seek(start)
        self.end = start

    def __iter__(self) -> Iterator[bytes]:
        while True:
            line = part = self._file.readline(MAX_LINE_BYTES)
            size = len(line)
            while len(part) == MAX_LINE_BYTES and not part.endswith(b"\n"):
                part = self._file.readline(MAX_LINE_BYTES)
                size += len(part)
            if not part.endswith(b"\n"):
                return
            self.end += size
            if part is line:
                yield line
