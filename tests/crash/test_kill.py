"""A sync that is killed at any instant loses nothing, and the next one makes the index what a fresh one would be.

``COGVAULT_CRASH_KILLS`` sets how many are killed at work, ``COGVAULT_CRASH_SEED`` which instants.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from cogvault.indexes import LocalIndex
from tests.crash.worker import INSTANTS, LoggingEmbedder, Task, syncer, written
from tests.indexing.support import content

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("COGVAULT_CRASH_KILLS", "20"))
SEED = int(os.environ.get("COGVAULT_CRASH_SEED", "1"))
MOST_TRIES = 3 * KILLS
CARDS = 40
WORDS = ["alpha", "beta", "gamma", "note", "shared", "words", "ключ", "设备", "naïve", "POL-358"]


class Worker:
    """The forking process of ``worker.py``."""

    def __init__(self) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "tests.crash.worker"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, task: Task) -> None:
        """Begin a task."""
        self._pipe(self._process.stdin).write(task.line())
        self._pipe(self._process.stdin).flush()

    def wait(self) -> int:
        """The exit status of the task begun last."""
        return int(self._pipe(self._process.stdout).readline())

    def close(self) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(30)
        self._pipe(self._process.stdout).close()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


def text(rng: random.Random) -> str:
    paragraphs = [" ".join(rng.choices(WORDS, k=8)) for _ in range(rng.randint(1, 4))]
    return f"---\ntitle: {' '.join(rng.choices(WORDS, k=3))}\ntags: [{rng.choice('xyz')}]\n---\n" + "\n\n".join(
        paragraphs
    )


def edit_meanwhile(vault: Path, rng: random.Random) -> None:
    """Save a few cards as tools do, beside whatever is running: written apart, then renamed into place."""
    for number in range(5):
        file = vault / f"meanwhile-{number}.md"
        beside = vault / ".meanwhile"
        beside.write_text(text(rng))
        beside.replace(file)
        if rng.random() < 0.2:
            file.unlink()


def change(vault: Path, rng: random.Random) -> None:
    """Some edits of every kind."""
    files = sorted(file for file in vault.rglob("*.md") if not file.name.startswith("written-"))
    for file in rng.sample(files, min(len(files), 12)):
        kind = rng.choice(["edit", "edit", "edit", "append", "move", "delete", "empty", "touch"])
        if kind == "edit":
            file.write_text(text(rng))
        elif kind == "append":
            file.write_text(f"{file.read_text()}\n\n{' '.join(rng.choices(WORDS, k=5))}")
        elif kind == "move":
            target = vault / rng.choice(["", "folder", "folder/deep"]) / f"moved-{rng.randrange(10**6)}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
        elif kind == "delete":
            file.unlink()
        elif kind == "empty":
            file.write_text("")
        else:
            os.utime(file, (1, rng.randrange(10**9)))
    for _ in range(max(0, CARDS - len(files)) + 3):
        (vault / f"new-{rng.randrange(10**6)}.md").write_text(text(rng))


class Desk:
    """One vault that is killed at, and its index."""

    def __init__(self, base: Path, rng: random.Random) -> None:
        self.base, self.rng = base, rng
        self.vault, self.folder, self.log = base / "vault", base / "index", base / "log"
        self.vault.mkdir()
        self.folder.mkdir()
        self.model, self.chunk_tokens = "one", 200
        self.whole_seconds = 0.1

    def task(self, number: int) -> Task:
        """What is done, and when it is killed: in turn from the start, and shortly after it came to some instant."""
        rng = self.rng
        instant = INSTANTS[number % len(INSTANTS)]
        longest = self.whole_seconds if instant == "start" else 0.03
        return Task(
            str(self.vault),
            str(self.folder),
            str(self.log),
            self.model,
            self.chunk_tokens,
            writes=number % 5 == 4,
            instant=instant,
            occurrence=1 if instant == "start" else rng.randint(1, 3),
            delay_seconds=rng.uniform(0, longest),
            seed=number,
        )

    def check(self) -> None:
        """The next sync makes what a fresh one makes, and every card that was written is there whole."""
        for file in self.vault.glob("written-*.md"):
            version = file.read_text().split("\n", 1)[0].rpartition(" ")[2]
            assert file.read_text() == written(file.stem, int(version))
        fresh = self.base / "fresh"
        fresh.mkdir()
        assert self._synced(self.folder) == self._synced(fresh)
        shutil.rmtree(fresh)

    def _synced(self, folder: Path) -> dict[str, object]:
        """What the index says after a sync that was left alone."""
        index = LocalIndex(folder)
        try:
            report = syncer(self.vault, folder, index, self.log, self.model, chunk_tokens=self.chunk_tokens).sync()
            assert (report.failed, report.pending_vectors) == ((), 0)
            assert index.verify() == []
            return content(index, LoggingEmbedder(self.log, self.model))
        finally:
            index.close()


def test_after_a_kill_at_any_instant_the_next_sync_equals_a_fresh_index(tmp_path: Path, worker: Worker) -> None:
    rng = random.Random(SEED)
    desk = Desk(tmp_path, rng)
    change(desk.vault, rng)
    killed = number = 0
    while killed < KILLS:
        assert number < MOST_TRIES, f"only {killed} of {number} were at work when the kill came"
        if number % 10 == 0:  # from nothing again: kills of a first sync are another thing than those of later ones
            shutil.rmtree(desk.folder)
            desk.folder.mkdir()
        if number % 6 == 3:  # another model: all is embedded again
            desk.model = "other" if desk.model == "one" else "one"
        if number % 7 == 5:  # other chunks: all cards are put again
            desk.chunk_tokens = 300 - desk.chunk_tokens
        began = time.perf_counter()
        worker.start(desk.task(number))
        edit_meanwhile(desk.vault, rng)
        status = worker.wait()
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            assert status == 0
            desk.whole_seconds = time.perf_counter() - began
        if number % 3 == 2:  # else kill once more, on top of what this kill left behind
            desk.check()
        change(desk.vault, rng)
        number += 1
    sys.stderr.write(f"{killed} were killed at work, {number - killed} had ended before\n")
    desk.check()


def test_two_processes_that_sync_at_once_embed_each_text_once(tmp_path: Path) -> None:
    vault, folder, log = tmp_path / "vault", tmp_path / "index", tmp_path / "log"
    vault.mkdir()
    folder.mkdir()
    for number in range(60):
        (vault / f"{number}.md").write_text(f"---\ndescription: card {number}\n---\n# Card {number}\n\ntext {number}")
    workers = [Worker(), Worker()]
    try:
        for worker in workers:
            worker.start(Task(str(vault), str(folder), str(log)))
        assert [worker.wait() for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.close()
    embedded = log.read_text().splitlines()
    assert len(embedded) == 120
    assert len(set(embedded)) == 120
    index = LocalIndex(folder)
    assert (index.snapshot().stats.cards, index.snapshot().stats.vectors) == (60, 120)
    index.close()
