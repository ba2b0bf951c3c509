"""A clock by which processes of one machine can tell each other when something was."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MachineClock", "machine_clock"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class MachineClock:
    """A clock and what it is called: times of another clock say nothing.

    Attributes:
        name: of the machine and, where that is known, the time since it was started.
        now_ns: nanoseconds since any one instant.
    """

    name: str
    now_ns: Callable[[], int]


def machine_clock(boot: Path = _BOOT) -> MachineClock:
    """One that nobody can put back, where the machine tells when it was started (Linux); else the wall clock.

    The first stands still while the machine sleeps, as all do who write on it.

    Args:
        boot: holds a text that is another after each start of the machine.
    """
    try:
        return MachineClock(f"{socket.gethostname()} {boot.read_text('ascii').strip()}", time.monotonic_ns)
    except (OSError, ValueError):
        return MachineClock(socket.gethostname(), time.time_ns)
