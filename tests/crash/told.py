"""Adds told paths, or takes them out, in one process after the other, each killed before another line of that.

Arguments: ``add`` or ``take``, and a folder, in which it makes an index folder for each, named by the line, from 1. The
last one is not killed. Forks, so that not all of them have to be started.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from cogvault.indexing import written
from cogvault.indexing.written import WrittenPaths

LONG = "new/" * 20_000  # more than is told at once


def kill_before(line: int) -> None:
    """Of all lines of the module that run, in whichever function."""
    ran = 0

    def at(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal ran
        if frame.f_code.co_filename != written.__file__:
            return None
        if event == "line":
            ran += 1
            if ran == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return at

    sys.settrace(at)


def do(work: str, folder: Path, line: int) -> None:
    """The work, and the kill."""
    told = WrittenPaths(folder)
    seen = told.read().among(["seen.md"])
    kill_before(line)
    if work == "add":
        told.add([LONG])
    else:
        told.take(seen)
    os._exit(0)


def main(work: str, base: str) -> None:
    for line in itertools.count(1):
        folder = Path(base, str(line))
        folder.mkdir()
        for path in ("seen.md", "other.md"):
            WrittenPaths(folder).add([path])
        child = os.fork()
        if child == 0:
            do(work, folder, line)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
