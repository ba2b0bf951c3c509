"""How many CPUs nobody else wants at this moment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cogvault.config import available_cpus

_LOAD: Final = Path("/proc/loadavg")


def spare_cpus(load: Path = _LOAD) -> int | None:
    """CPUs of this process that no other thread wants to run on, at least 1; None = not known. Takes 50 microseconds.

    Where the process may use a part of the machine only, nothing tells which threads want that part: all may.

    Threads that meet at a barrier after each step lose a time slice a step when one of them finds no CPU: a query's
    100 steps then take 0.3 s and more on two threads, where they take 15 ms on one.

    Args:
        load: Linux's file of what runs; its fourth field begins with the number of threads that want to run now, of
            which the one that asks is one.
    """
    try:
        wanting = int(load.read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return None
    return max(1, available_cpus() - (wanting - 1))
