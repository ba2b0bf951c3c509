"""The files of one session. A turn goes to the end of the newest file of its day; nothing else is ever rewritten.

What is appended is noted outside of the vault first, and once it is on disk the note says so too. So a turn that was
written half when its process died is known for what it is, and is taken away again; and a file that ends as the note
says needs no look inside, however many turns the session has. A file that somebody else wrote to is read once: if a
turn at its end would not be read as one, because a fence is open there, the next file is begun.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cogvault.cards.paths import is_usable_name, refusal, resolve_inside
from cogvault.cards.regular import read_regular
from cogvault.cards.writer import flush_folder, write_atomic
from cogvault.errors import CardError
from cogvault.indexing.scan import is_card_path, root_id
from cogvault.lifecycle.append_note import Note, NoteFile
from cogvault.lifecycle.turns import is_continued
from cogvault.lifecycle.workspace import Workspace
from cogvault.text.normalise import nfc

__all__ = ["MAX_FILE_BYTES", "SESSIONS", "Entry", "Timeline"]

SESSIONS = "session"
# After each append the newest file is indexed again: this bounds what that costs.
MAX_FILE_BYTES = 64 * 1024
_FILE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})_([0-9]{3,})\.md")
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_TRIES = 5
# More than the frontmatter of a file takes.
_HEADER_BYTES = 2048


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn as it is written.

    Attributes:
        day: ISO date of the files that it belongs to.
        data: its bytes, a blank line in front included.
    """

    day: str
    data: bytes


class Timeline:
    """Appends to and reads the files of one session. Safe among processes; threads take turns outside.

    Args:
        workspace: the vault.
        name: of the session, one usable file name.

    Attributes:
        max_turn_bytes: longest turn that is indexed.

    Raises:
        PathError: the name cannot be that of a folder of the vault.
    """

    def __init__(self, workspace: Workspace, name: str) -> None:
        name = nfc(name)
        if not is_usable_name(name):
            raise refusal(name)
        self.name = name
        self.folder = f"{SESSIONS}/{name}/timeline"
        # What lies behind the limit of cards would not be indexed.
        self.max_turn_bytes = max(0, workspace.config.max_card_bytes - _HEADER_BYTES)
        self._max_bytes = min(MAX_FILE_BYTES, self.max_turn_bytes)
        self._workspace = workspace
        self._path = resolve_inside(workspace.root, self.folder)
        if self._path.resolve() != self._path:  # a scan does not follow links either: nobody would find the turns
            raise refusal(name)
        digest = hashlib.sha256(name.encode()).hexdigest()[:32]
        self._note = NoteFile(workspace.state_folder / "sessions" / f"{digest}.last")

    def append(self, entries: Iterable[Entry]) -> None:
        """Write turns; on return they are on disk and survive a loss of power.

        After an error some may be there, in order within each day.

        Raises:
            VaultError: another writer did not let go in time.
            CardError: a file cannot be written, or would be ignored.
        """
        by_day: dict[str, list[bytes]] = defaultdict(list)
        for entry in entries:
            by_day[entry.day].append(entry.data)
        written: list[str] = []
        try:
            with self._workspace.writing():
                self._repair()
                self._make_folder()
                for day, records in by_day.items():
                    written += self._append_day(day, records)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CardError(f"the turn cannot be written: {reason}", path=error.filename or self.folder) from error
        finally:
            self._workspace.wrote(f"{self.folder}/{file}" for file in written)

    def repair(self) -> None:
        """Take a turn away that a process died of while writing it; nobody was told that it is kept.

        Raises:
            VaultError: another writer did not let go in time.
        """
        if self._torn() is not None:
            with self._workspace.writing():
                self._repair()

    def files(self) -> list[str]:
        """Names of the files, oldest day first.

        Raises:
            VaultError: the vault's folder is away.
        """
        try:
            names = [match for entry in os.scandir(self._path) if (match := _FILE.fullmatch(entry.name))]
        except FileNotFoundError:
            root_id(self._workspace.root)  # or a vault that is away would be one without turns
            return []
        return [match[0] for match in sorted(names, key=lambda match: (match[1], int(match[2])))]

    def read(self, file: str) -> bytes:
        """Bytes of one file without a turn that is being written just now.

        Raises:
            CardError: it cannot be read.
        """
        for _ in range(_TRIES):
            note = self._note.read()
            try:
                data = read_regular(self._path / file)
            except FileNotFoundError:
                return b""
            except OSError as error:
                raise CardError(f"cannot be read: {error.strerror}", path=self._path / file) from error
            if self._note.read() == note:
                break
        is_torn = note is not None and note.file == file and note.is_torn(data[note.offset :])
        return data[: note.offset] if is_torn and note is not None else data

    def _append_day(self, day: str, records: Sequence[bytes]) -> Iterator[str]:
        number, room, glue = self._end_of(day)
        for portion in _portions(records, room, self._max_bytes):
            if portion:
                file = f"{day}_{number:03}.md"
                self._write(file, day, number, glue + b"".join(portion))
                yield file
            number, glue = number + 1, b""

    def _end_of(self, day: str) -> tuple[int, int, bytes]:
        """Number of the file that a turn of this day goes to, bytes it may still get, and what has to come first."""
        note = self._note.read()
        if (
            note is not None
            and (match := _FILE.fullmatch(note.file))
            and match[1] == day
            and note.is_as_left(self._behind(note))
        ):
            return int(match[2]), self._max_bytes - note.offset - note.length, b""
        numbers = [int(match[2]) for file in self.files() if (match := _FILE.fullmatch(file)) and match[1] == day]
        if not numbers:
            return 1, self._max_bytes, b""
        number = max(numbers)
        path = self._path / f"{day}_{number:03}.md"
        status = path.lstat()
        size, is_regular = status.st_size, stat.S_ISREG(status.st_mode)
        if not is_regular or size >= self._max_bytes or not is_continued(data := read_regular(path)):
            return number + 1, self._max_bytes, b""
        return number, self._max_bytes - size, b"" if data.endswith(b"\n") or not data else b"\n"

    def _write(self, file: str, day: str, number: int, data: bytes) -> None:
        path = self._path / file
        for _ in range(_TRIES):
            if not path.exists():
                data = _header(self.name, day, number) + data
                note = Note.of(file, 0, data)
                self._note.begin(note)
                write_atomic(path, data, expected_hash=None)
                self._note.end(note)
                return
            if self._extend(path, data):
                return
        raise CardError("another program keeps replacing the file", path=path, hint="close it there and try again")

    def _extend(self, path: Path, data: bytes) -> bool:
        """Append; False when somebody put another file in its place meanwhile."""
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | _FLAGS)
        try:
            offset = os.fstat(handle).st_size
            note = Note.of(path.name, offset, data)
            self._note.begin(note)
            try:
                _write_all(handle, data)
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, offset)
                raise
            self._note.end(note)
            return os.path.samestat(os.fstat(handle), path.stat())
        except FileNotFoundError:
            return False
        finally:
            os.close(handle)

    def _make_folder(self) -> None:
        if self._path.is_dir():
            return
        if not is_card_path(self._workspace.root, self._workspace.scan, f"{self.folder}/1.md"):
            raise CardError(
                "what is said here would not be found: the place is ignored",
                path=self.folder,
                hint="look at the patterns of ignore and .cogvaultignore; a file that cannot be read counts for all",
            )
        for folder in (self._path.parent.parent, self._path.parent, self._path):
            if not folder.exists():
                folder.mkdir(exist_ok=True)
                flush_folder(folder.parent)
        if self._path.resolve() != self._path:
            raise refusal(self.name)

    def _repair(self) -> None:
        note = self._torn()
        if note is not None:
            with (self._path / note.file).open("rb+") as file:
                file.truncate(note.offset)
                os.fsync(file.fileno())
            self._workspace.wrote([f"{self.folder}/{note.file}"])

    def _torn(self) -> Note | None:
        """The last append if it was cut off."""
        note = self._note.read()
        return note if note is not None and note.is_torn(self._behind(note)) else None

    def _behind(self, note: Note) -> bytes:
        """What stands where the last append was made; at most one byte more than was appended."""
        try:
            with (self._path / note.file).open("rb") as file:
                file.seek(note.offset)
                return file.read(note.length + 1)
        except OSError:
            return b""


def _portions(records: Sequence[bytes], room: int, whole: int) -> Iterator[list[bytes]]:
    """The records file by file, the first of which has this much room; one that fits nowhere has a file of its own."""
    portion: list[bytes] = []
    for record in records:
        if len(record) > room and (portion or room < whole):
            yield portion
            portion, room = [], whole
        portion.append(record)
        room -= len(record)
    yield portion


def _header(session: str, day: str, number: int) -> bytes:
    part = f" ({number})" if number > 1 else ""
    title = json.dumps(f"{session}, {day}{part}", ensure_ascii=False)
    quoted = json.dumps(session, ensure_ascii=False)
    return f"---\ntitle: {title}\ntype: session\ndate: {day}\nsession: {quoted}\n---\n".encode()


def _write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
