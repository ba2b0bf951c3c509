"""Load on a daemon: clients, each with a connection of its own, that ask one new question after the other.

They are threads of this process: a client's part of a search takes half a millisecond, and eight processes would take
from the daemon what is to be measured.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, note
from benchmarks.words import sentence
from cogvault.client import RemoteVault, connect
from cogvault.errors import CogvaultError
from cogvault.types import FloatArray, Status

# All threads wait before the first of them begins.
_START_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Load:
    """What clients saw.

    Attributes:
        seconds: of each search; at a rate, from when it was due, so that one that had to wait for the one before it
            counts the waiting too.
        failures: searches without an answer, or with one that is neither ok nor empty.
        wall_seconds: from the beginning to the last answer, however long that took.
    """

    seconds: FloatArray
    failures: int
    wall_seconds: float

    def rows(self, latency: str, others: str) -> list[Row]:
        """Median and 95th percentile under one unit, failures under the other, and the rate that was reached."""
        count = len(self.seconds)
        return [
            Row("daemon", latency, "p50_ms", float(np.percentile(self.seconds, 50)) * 1000, count),
            Row("daemon", latency, "p95_ms", float(np.percentile(self.seconds, 95)) * 1000, count),
            Row("daemon", latency, "requests_per_s", count / self.wall_seconds, count),
            Row("daemon", others, "failures", self.failures, count),
        ]


def load(vault: Path, environment: Mapping[str, str], clients: int, seconds: float, rate: float | None) -> Load:
    """Ask for so many seconds.

    Args:
        rate: searches a second of all clients, begun by the clock whether or not the last has ended; None = each
            client as fast as it gets answers.
    """
    with ExitStack() as stack:
        vaults = [stack.enter_context(_connected(vault, environment)) for _ in range(clients)]
        begin = time.time() + _START_SECONDS

        def ask(client: int) -> _Told:
            first, gap = (begin + client / rate, clients / rate) if rate else (begin, 0.0)
            return _ask(vaults[client], begin, seconds, first, gap, seed=time.time_ns() + client)

        with ThreadPoolExecutor(clients) as pool:
            told = list(pool.map(ask, range(clients)))
    return Load(
        np.array([one for client in told for one in client.seconds]),
        sum(client.failures for client in told),
        max(client.end for client in told) - begin,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What one client saw; ``end`` is the instant of its last answer."""

    seconds: list[float]
    failures: int
    end: float


def _connected(vault: Path, environment: Mapping[str, str]) -> RemoteVault:
    found = connect(vault, environment=environment)
    assert found is not None
    found.search(sentence(random.Random(3), 9))  # the first sentence takes .2 s: the words are made for it
    return found


def _ask(vault: RemoteVault, begin: float, seconds: float, due: float, gap: float, seed: int) -> _Told:
    """Ask until the time is over.

    Args:
        due: instant of the first search.
        gap: seconds from one search to the next, 0 = at once.
    """
    rng = random.Random(seed)
    times: list[float] = []
    failures = 0
    time.sleep(max(0.0, begin - time.time()))
    while (due if gap else time.time()) < begin + seconds:
        started = due if gap else time.time()
        time.sleep(max(0.0, started - time.time()))
        failures += not _is_answered(vault, sentence(rng, 9))
        times.append(time.time() - started)
        due += gap
    return _Told(times, failures, time.time())


def _is_answered(vault: RemoteVault, question: str) -> bool:
    try:
        hits = vault.search(question)
    except CogvaultError as error:
        note(f"a search failed: {error}")
        return False
    if hits.status not in (Status.OK, Status.EMPTY):
        note(f"a search is {hits.status.value}: {hits.reason}")
        return False
    return True
