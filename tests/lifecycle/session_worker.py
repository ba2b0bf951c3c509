"""Processes that append to sessions, and are there to be killed.

``python -m tests.lifecycle.session_worker`` reads lines of JSON, ``{"base": …, "session": …, "writer": …, "count": …,
"die_at": …}``, forks a process for each, prints its id at once, and its exit status when the input has ended. A process
adds the number of each acknowledged turn to ``BASE/acknowledged-<writer>``. With ``die_at`` it kills itself in the
middle of that write to the session.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from cogvault.cards import MarkdownCardParser
from cogvault.config import Config
from cogvault.lifecycle.sessions import Session, Sessions
from cogvault.lifecycle.workspace import Workspace
from cogvault.types import CardLayers

NOW = datetime(2024, 3, 15, 10, 30, tzinfo=UTC)


def sessions(base: Path, wrote: list[str] | None = None) -> Sessions:
    """Sessions of the vault ``BASE/vault``."""
    return Sessions(workspace(base, wrote), lambda folder: CardLayers(folder, ""))


def workspace(base: Path, wrote: list[str] | None = None) -> Workspace:
    """The vault ``BASE/vault``; what is written is told to ``wrote``."""
    (base / "vault").mkdir(exist_ok=True)
    told: list[str] = [] if wrote is None else wrote
    return Workspace(
        root=base / "vault",
        config=Config(),
        parser=MarkdownCardParser(),
        index_folder=base / "index",
        notes_folder=base / "index",
        state_folder=base / "state",
        fresh=_no_index,
        latest=_no_index,
        forget_text=lambda card: None,
        wrote=told.extend,
        clock=lambda: NOW,
    )


def _no_index() -> NoReturn:
    raise AssertionError("appending needs no index")


def _append(session: Session, base: Path, writer: str, count: int, die_at: int | None) -> None:
    acknowledged = os.open(base / f"acknowledged-{writer}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(count):
        if number == die_at:
            _die_in_the_middle()
        session.append(writer, f"turn {number}\n\n# no heading\n" + "words " * 40, NOW)
        os.write(acknowledged, f"{number}\n".encode())


def _die_in_the_middle() -> None:
    plain = os.write

    def write_half(handle: int, data: bytes) -> int:
        plain(handle, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    os.write = write_half  # type: ignore[assignment]


def main() -> None:
    children: list[int] = []
    for line in sys.stdin:
        order = json.loads(line)
        base = Path(order["base"])
        child = os.fork()
        if not child:
            session = sessions(base)(order["session"])
            _append(session, base, order["writer"], order["count"], order.get("die_at"))
            os._exit(0)
        children.append(child)
        print(child, flush=True)  # noqa: T201
    for child in children:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
