"""Go on when the one who started this process stops it: an agent that ends waits for its hooks only for a moment."""

from __future__ import annotations

import os

__all__ = ["goes_on"]


def goes_on(*, is_heard: bool) -> bool:
    """Leave the work to a process that nobody stops; where there is no fork, this one does it.

    To be called before there are threads.

    Args:
        is_heard: what it writes to standard error is wanted.

    Returns:
        True for the process that has to work; False for the one that was started, once the other has ended.
    """
    if not hasattr(os, "fork"):
        return True
    until_end, held = os.pipe()
    if (child := os.fork()) > 0:
        os.close(held)
        os.waitpid(child, 0)
        os.read(until_end, 1)  # nothing is ever written: this returns when the last holder is gone
        return False
    # A grandchild in a session of its own is in no process group, and below no process, that could be stopped.
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.close(until_end)
    null = os.open(os.devnull, os.O_WRONLY)
    for heard in (1,) if is_heard else (1, 2):
        os.dup2(null, heard)  # the agent reads until nobody can write any more
    return True
