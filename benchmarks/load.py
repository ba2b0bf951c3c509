"""Load on a daemon: clients, each a process of its own, that ask one new question after the other."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.rows import ROOT, Row, note
from benchmarks.words import sentence
from cogvault.client import RemoteVault, connect
from cogvault.errors import CogvaultError
from cogvault.types import FloatArray, Status

# Connected, and warm, before the first of them begins.
_START_SECONDS = 1.0


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
    command = [sys.executable, "-m", "benchmarks.load", str(vault), str(clients), str(seconds), str(rate or 0.0)]
    processes = [
        subprocess.Popen(
            [*command, str(client)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(environment),
            cwd=ROOT,
        )
        for client in range(clients)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # it is connected
    begin = time.time() + _START_SECONDS
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{begin}\n")
        process.stdin.flush()
    told = [json.loads(process.communicate()[0]) for process in processes]
    return Load(
        np.array([one for client in told for one in client["seconds"]]),
        sum(client["failures"] for client in told),
        max(client["end"] for client in told) - begin,
    )


def _ask(vault: RemoteVault, begin: float, seconds: float, due: float, gap: float, seed: int) -> dict[str, object]:
    """Ask until the time is over.

    Args:
        due: instant of the first search.
        gap: seconds from one search to the next, 0 = at once.
    """
    rng = random.Random(seed)
    times: list[float] = []
    failures = 0
    while (due if gap else time.time()) < begin + seconds:
        started = due if gap else time.time()
        time.sleep(max(0.0, started - time.time()))
        failures += not _is_answered(vault, sentence(rng, 9))
        times.append(time.time() - started)
        due += gap
    return {"seconds": times, "failures": failures, "end": time.time()}


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


def _main(folder: str, clients: int, seconds: float, rate: float, client: int) -> None:
    vault = connect(folder)
    assert vault is not None
    with vault:
        vault.search(sentence(random.Random(client), 9))  # the first sentence takes .2 s: the words are made for it
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        begin = float(sys.stdin.readline())
        first, gap = (begin + client / rate, clients / rate) if rate else (begin, 0.0)
        time.sleep(max(0.0, begin - time.time()))
        told = _ask(vault, begin, seconds, first, gap, seed=time.time_ns() ^ os.getpid())
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
