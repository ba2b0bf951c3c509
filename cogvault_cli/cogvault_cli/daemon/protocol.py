"""HTTP as the server speaks it, for requests that arrive in time, of somebody who still waits for the answer."""

from __future__ import annotations

import asyncio
import select

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["ARRIVAL_SECONDS", "HurriedProtocol", "configuration"]

# From its first byte to its last; also till the first byte of a new connection. 32 MB take a tenth of a second.
ARRIVAL_SECONDS = 10.0


class HurriedProtocol(H11Protocol):
    """A connection is closed when its request does not arrive as a whole in time, or its other side has gone.

    Who sends half a request counts in the queue like a call that waits, and a few hundred of them would fill it for
    good. The server itself has a time limit only for connections that are kept after an answer.

    What was sent to a daemon that hung waits for it to go on. Who gave up meanwhile was told to look whether it was
    done, and may have done it in another way: it must not be done after that.
    """

    arrival_seconds = ARRIVAL_SECONDS
    _arriving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected, who is expected to ask something."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """A part of a request came, perhaps its end."""
        if self._is_alone():
            self.transport.close()
            return
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect()
        else:
            self._came()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, by whomever."""
        self._came()
        super().connection_lost(exc)

    def _is_alone(self) -> bool:
        """True when the other side has closed, right behind what it sent."""
        if not hasattr(select, "poll"):
            return False
        closed = getattr(select, "POLLRDHUP", select.POLLHUP)  # the former is Linux's, and knows it of TCP too
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), closed)
        return bool(poll.poll(0))

    def _expect(self) -> None:
        if self._arriving is None:
            self._arriving = self.loop.call_later(self.arrival_seconds, self.transport.close)

    def _came(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None


def configuration(app: ASGIApp, *, grace_seconds: int | None = None) -> uvicorn.Config:
    """How the daemon's server is set up.

    Args:
        app: what it serves.
        grace_seconds: so long the calls that run may take to end once it was stopped, None = without limit.
    """
    return uvicorn.Config(
        app,
        http=HurriedProtocol,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace_seconds,
        ws="none",
    )
