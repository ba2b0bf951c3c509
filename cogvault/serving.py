"""The event loop of a server: what it says while it cannot take connections. Standard library only."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

__all__ = ["AcceptFaults", "serve"]

logger = logging.getLogger(__name__)

# Whoever waits is accepted when there are descriptors again, which the loop tries each second.
_SAY_SECONDS = 60.0
_OUT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class AcceptFaults:
    """Exception handler of an event loop. Connections that cannot be taken are said once a minute, in a line.

    The loop tells of each that may be waiting, with a traceback, again each second: megabytes, on a full disk as well.

    Args:
        clock: monotonic, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Say what happened; anything else is said as usual."""
        error = context.get("exception")
        if "accept" not in str(context.get("message")) or getattr(error, "errno", None) not in _OUT_OF:
            loop.default_exception_handler(dict(context))
            return
        now = self._clock()
        if now - self._said >= _SAY_SECONDS:
            self._said = now
            hint = "they wait until some are free; raise the limit (ulimit -n)"
            logger.warning("no more connections can be taken: %s; %s", error, hint)


def serve(server: Coroutine[Any, Any, None]) -> None:
    """Run a server in an event loop of its own until it ends."""

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(AcceptFaults())
        await server

    asyncio.run(run())
