"""Sessions: what was said, turn by turn, in readable files that are searchable like any card."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType

from cogvault.cards.addresses import folder_uri
from cogvault.cards.paths import is_usable_name
from cogvault.errors import CardError, QueryError, VaultError
from cogvault.indexing.scan import root_id
from cogvault.lifecycle.timeline import SESSIONS, Entry, Timeline
from cogvault.lifecycle.turns import checked_speaker, read_turns, timestamp, write_turn
from cogvault.lifecycle.workspace import Workspace
from cogvault.text.dates import parse_moment
from cogvault.text.normalise import nfc
from cogvault.types import EMPTY_META, CardLayers, JsonValue, Turn
from cogvault.types.arguments import check_arguments, checked_turns

__all__ = ["Session", "Sessions"]


class Session:
    """Turns of one dialogue. Any number of threads and processes may append to one session.

    A turn that ``append`` returned is acknowledged: it is on disk (flushed, also its file's name), it survives a kill
    and a loss of power, and the next search of this process finds it. Threads that append at the same time share one
    flush. A turn whose ``append`` did not return is there whole or not at all.

    Attributes:
        name: of the session.
        folder: where its files are, relative to the vault; ``vault.search(path=session.folder)`` searches it alone.
    """

    def __init__(self, writer: _Writer, finalize: Callable[[str], CardLayers], clock: Callable[[], datetime]) -> None:
        self._writer = writer
        self._finalize = finalize
        self._clock = clock
        self._closed = False
        self.name = writer.timeline.name
        self.folder = f"{SESSIONS}/{self.name}"

    @property
    def uri(self) -> str:
        """Its ``cogvault://`` address."""
        return folder_uri(self.folder)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._closed:
            self.close()

    def __repr__(self) -> str:
        return f"Session({self.name!r})"

    def append(
        self,
        speaker: str,
        text: str,
        at: datetime | str | None = None,
        meta: Mapping[str, JsonValue] | None = None,
    ) -> Turn:
        """Add one turn. It costs the same however long the session is.

        Args:
            speaker: who speaks.
            text: what is said, any text.
            at: when, None = now; ISO 8601 or a ``datetime``, kept to the microsecond and in its zone; one without a
                zone is UTC. It decides to which day's file the turn goes; within a day turns stay in order of append.
            meta: whatever else is to be kept, as JSON values.

        Returns:
            The turn as ``turns`` gives it back.

        Raises:
            CardError: speaker, time or metadata cannot be written, the turn is too long to be indexed, or the disk
                failed.
            VaultError: the session is closed, or another writer did not let go in time.
        """
        check_arguments(speaker=speaker, text=text, at=at, meta=meta)
        moment = _moment(at)
        return self.append_many([Turn(speaker, text, moment, EMPTY_META if meta is None else meta)])[0]

    def append_many(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """Add turns in one go. All are checked before any is written.

        Args:
            turns: a turn without a time is said now.

        Returns:
            The turns as ``turns`` gives them back.

        Raises:
            CardError: as ``append``; after a failure of the disk some of the turns may be there.
            VaultError: as ``append``.
        """
        if self._closed:
            raise VaultError("the session is closed", path=self.folder, hint="open it again with vault.session(name)")
        said = [_dated(turn, self._clock) for turn in checked_turns(turns)]
        self._writer.write([self._entry(turn) for turn in said])
        return tuple(said)

    def turns(self, last: int | None = None) -> list[Turn]:
        """What was said: by day, and within a day in order of append. Turns that people wrote into the files count.

        Args:
            last: only so many, the newest; None = all.

        Raises:
            QueryError: ``last`` is negative.
            VaultError: the vault's folder is away.
            CardError: a file of its timeline cannot be read.
        """
        check_arguments(last=last)
        if last is not None and last < 0:
            raise QueryError(f"last should be 0 or more, not {last}", key="last", hint="leave it out for all turns")
        timeline = self._writer.timeline
        found: list[Turn] = []
        for file in reversed(timeline.files()):
            if last is not None and len(found) >= last:
                break
            found[:0] = read_turns(timeline.read(file))
        return found if last is None else found[len(found) - min(last, len(found)) :]

    def close(self) -> CardLayers:
        """Finish: everything is indexed, with vectors, and the layers are final; a language model is asked now if one
        is configured. This object takes no more turns; ``vault.session(name)`` goes on with the session at any time.

        Returns:
            Abstract and overview of the session, blank when nothing was said.
        """
        self._closed = True
        return self._finalize(self.folder) if self._writer.timeline.files() else CardLayers("", "")

    def _entry(self, turn: Turn) -> Entry:
        assert turn.at is not None
        data = f"\n{write_turn(turn)}\n".encode()
        if len(data) > self._writer.timeline.max_turn_bytes:
            raise CardError(
                f"a turn of {len(data)} bytes is too long to be indexed",
                path=self.folder,
                hint=f"at most {self._writer.timeline.max_turn_bytes} bytes; split it, or raise max_card_bytes",
            )
        return Entry(timestamp(turn.at)[:10], data)


class Sessions:
    """The sessions of a vault.

    Args:
        workspace: the vault.
        finalize: indexes everything and gives the layers of a folder.
    """

    def __init__(self, workspace: Workspace, finalize: Callable[[str], CardLayers]) -> None:
        self._workspace = workspace
        self._finalize = finalize
        self._lock = threading.Lock()
        self._writers: weakref.WeakValueDictionary[str, _Writer] = weakref.WeakValueDictionary()

    def __call__(self, name: str) -> Session:
        """The session of this name; it begins with its first turn.

        Raises:
            PathError: the name cannot be that of a folder of the vault.
        """
        with self._lock:
            writer = self._writers.get(nfc(name))
            if writer is None:
                writer = _Writer(Timeline(self._workspace, name))
                self._writers[writer.timeline.name] = writer
        writer.timeline.repair()
        return Session(writer, self._finalize, self._workspace.clock)

    def names(self) -> list[str]:
        """Names of the sessions that have turns, in order.

        Raises:
            VaultError: the vault's folder is away.
        """
        root_id(self._workspace.root)
        folder = self._workspace.root / SESSIONS
        if not folder.is_dir():
            return []
        inner = (entry.name for entry in folder.iterdir() if (entry / "timeline").is_dir() and not entry.is_symlink())
        return sorted(nfc(name) for name in inner if is_usable_name(name))


@dataclass(slots=True)
class _Waiting:
    """Turns of one thread on their way to the disk."""

    entries: list[Entry]
    is_done: bool = False
    error: Exception | None = None


class _Writer:
    """What all ``Session`` objects of one name share: threads that come while one writes are written together after it.

    Args:
        timeline: the files.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._queue: list[_Waiting] = []
        self._queue_lock = threading.Lock()
        self._disk_lock = threading.Lock()

    def write(self, entries: list[Entry]) -> None:
        """Write, and return when it is on disk. Raises what ``Timeline.append`` raises."""
        if not entries:
            return
        mine = _Waiting(entries)
        with self._queue_lock:
            self._queue.append(mine)
        with self._disk_lock:
            if not mine.is_done:
                self._write_queue()
        if mine.error is not None:
            raise mine.error

    def _write_queue(self) -> None:
        with self._queue_lock:
            group, self._queue = self._queue, []
        error: Exception | None = VaultError("the thread that wrote was interrupted", hint="look at turns(), try again")
        try:
            self.timeline.append(entry for waiting in group for entry in waiting.entries)
            error = None
        except Exception as failure:  # each thread of the group has to hear of it
            error = failure
        finally:
            for waiting in group:
                waiting.is_done, waiting.error = True, error


def _moment(at: datetime | str | None) -> datetime | None:
    if not isinstance(at, str):
        return at
    moment = parse_moment(at)
    if moment is None:
        raise CardError(f"{at[:60]!r} is no time", key="at", hint="use ISO 8601, such as 2024-03-15T10:30:00Z")
    return moment


def _dated(turn: Turn, clock: Callable[[], datetime]) -> Turn:
    at = clock() if turn.at is None else turn.at
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return replace(turn, speaker=checked_speaker(turn.speaker), at=at, meta=dict(turn.meta))
