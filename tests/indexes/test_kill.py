"""A kill at any instant leaves an index that opens, and that equals one that was never killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex, MemoryIndex
from cogvault.testing.stateful import assert_same_content, assert_same_evidence
from tests.indexes.steps import step

KILLS = int(os.environ.get("COGVAULT_KILLS", "15"))
STEPS = 100_000

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the worker forks")


class Worker:
    """A process that makes steps in a fork of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.indexes.steps"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, first: int, last: int, point: str = "", kill_after: float | None = None) -> int:
        """Make steps; gives the last one that was reported, ``first - 1`` = none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder}\t{first}\t{last}\t{point}\n")
        self._process.stdin.flush()
        done, timer = first - 1, None
        for line in self._process.stdout:
            if line.startswith("pid ") and kill_after is not None:
                timer = threading.Timer(kill_after, os.kill, (int(line[4:]), signal.SIGKILL))
                timer.start()
            elif line == "end\n":
                break
            elif not line.startswith("pid "):
                done = int(line)
        if timer is not None:
            timer.join()
        return done

    def stop(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_kills_at_random_instants(worker: Worker, tmp_path: Path) -> None:
    oracle = MemoryIndex()
    rng = random.Random(7)
    done = 0
    for _ in range(KILLS):
        reported = worker.run(tmp_path / "index", done, STEPS, kill_after=rng.uniform(0.0, 0.4))
        done = _check(tmp_path / "index", oracle, done, reported)


@pytest.mark.parametrize(
    ("point", "without_keyword_folder"),
    [
        ("before the keyword commit", False),
        ("before the purge", False),
        ("while the keyword folder is built", True),
        ("before the new keyword folder is named", True),
    ],
)
def test_kills_between_the_steps_of_a_change(
    worker: Worker, tmp_path: Path, point: str, without_keyword_folder: bool
) -> None:
    oracle, folder = MemoryIndex(), tmp_path / "index"
    done = _check(folder, oracle, 0, worker.run(folder, 0, 0))
    for last in (1, 4, 6, 9):
        done = _check(folder, oracle, done, worker.run(folder, done, last - 1))
        for old in folder.glob("keyword-*" if without_keyword_folder else "none"):
            shutil.rmtree(old)
        reported = worker.run(folder, done, last, point)
        assert reported == last - 1
        done = _check(folder, oracle, done, reported)
        # Whatever the kill undid is done again.
        done = _check(folder, oracle, done, worker.run(folder, done, last))


def _check(folder: Path, oracle: MemoryIndex, first: int, reported: int) -> int:
    """Compare with the oracle, which is brought to the same change; gives the number of the next step."""
    index = LocalIndex(folder)
    snapshot = index.snapshot()
    while oracle.snapshot().stats.sequence < snapshot.stats.sequence:
        step(oracle, oracle.snapshot().stats.sequence)
    done = snapshot.stats.sequence
    assert done - 1 - reported in (0, 1)
    assert_same_content(snapshot, oracle.snapshot())
    assert_same_evidence(snapshot, oracle.snapshot(), "payment database hello", 2)
    index.repair(lambda done, total: None)
    assert index.verify() == []
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [path.name for path in folder.glob("keyword-*")]
    assert len(list(folder.glob("keyword-*"))) == 1
    index.close()
    return done
