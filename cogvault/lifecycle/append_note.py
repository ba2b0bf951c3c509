"""What is being appended to a file, noted outside of the vault: tells what a killed process wrote half."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from cogvault.config import make_private
from cogvault.errors import VaultError

__all__ = ["Note", "NoteFile"]

_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Note:
    """The last append.

    Attributes:
        file: name of the file.
        offset: bytes that the file had before; 0 = it was new, and was put in place whole.
        length: bytes that were appended.
        digest: hex SHA-256 of them.
        data: the bytes, as long as they are not known to be on disk; "" afterwards.
    """

    file: str
    offset: int
    length: int
    digest: str
    data: bytes = b""

    @classmethod
    def of(cls, file: str, offset: int, data: bytes) -> Note:
        """The note of an append that is about to be made."""
        return cls(file, offset, len(data), hashlib.sha256(data).hexdigest(), data)

    def is_torn(self, behind: bytes) -> bool:
        """True when what stands behind ``offset`` is only a beginning of ``data``, byte for byte.

        A file system that lost power may have kept a file's length and not its bytes: NULs at the end are nothing.
        """
        if not self.data or not self.offset or not behind or len(behind) > self.length:
            return False
        kept = behind.rstrip(b"\0")
        return len(kept) < self.length and self.data.startswith(kept)

    def is_as_left(self, behind: bytes) -> bool:
        """True when all of it stands behind ``offset``, and nothing else."""
        return len(behind) == self.length and hashlib.sha256(behind).hexdigest() == self.digest


class NoteFile:
    """One note on disk. It is not flushed: it is to outlive a kill, not a loss of power.

    Args:
        path: the file; its folder is made when needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Note | None:
        """The note, None = there is none that can be read."""
        try:
            head, _, data = self._path.read_bytes().partition(b"\n")
            file, offset, length, digest = json.loads(head)
        except (OSError, ValueError):
            return None
        return Note(file, offset, length, digest, data) if len(data) in (0, length) else None

    def begin(self, note: Note) -> None:
        """Replace the note, before anything is appended.

        Raises:
            VaultError: the state folder cannot be written.
        """
        try:
            make_private(self._path.parent)
            self._put(note, note.data)
        except OSError as error:
            raise VaultError(f"the state folder cannot be written: {error.strerror}", path=self._path) from error

    def end(self, note: Note) -> None:
        """Say that it is on disk; what was said is not kept here."""
        with contextlib.suppress(OSError):  # what was appended is safe all the same
            self._put(note, b"")

    def _put(self, note: Note, data: bytes) -> None:
        head = json.dumps([note.file, note.offset, note.length, note.digest]).encode()
        # Not truncated first: ext4 would flush the file then, which takes longer than the append itself.
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | _BINARY, 0o600), "wb") as file:
            file.write(head + b"\n" + data)
            file.truncate()
