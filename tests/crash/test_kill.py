"""A sync that is killed at any instant loses nothing, and the next one makes the index what a fresh one would be.

``COGVAULT_CRASH_KILLS`` sets how many are killed, ``COGVAULT_CRASH_SEED`` which instants.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from cogvault.indexes import LocalIndex
from tests.crash.worker import LoggingEmbedder, syncer
from tests.indexing.support import content

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("COGVAULT_CRASH_KILLS", "30"))
SEED = int(os.environ.get("COGVAULT_CRASH_SEED", "1"))
CARDS = 40
WORDS = ["alpha", "beta", "gamma", "note", "shared", "words", "ключ", "设备", "naïve", "POL-358"]


class Worker:
    """The forking process of ``worker.py``."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash.worker"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, vault: Path, index: Path, log: Path, model: str = "one") -> int:
        """Begin a sync; gives the process that does it."""
        self._pipe(self._process.stdin).write(f"{vault}\t{index}\t{log}\t{model}\n")
        self._pipe(self._process.stdin).flush()
        return int(self._pipe(self._process.stdout).readline())

    def wait(self) -> int:
        """The exit status of the sync begun last."""
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


def change(vault: Path, rng: random.Random) -> None:
    """Some edits of every kind."""
    files = sorted(vault.rglob("*.md"))
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


def synced(vault: Path, folder: Path, log: Path, model: str) -> dict[str, object]:
    """What the index says after a sync that was left alone."""
    index = LocalIndex(folder)
    try:
        report = syncer(vault, folder, index, log, model).sync()
        assert (report.failed, report.pending_vectors) == ((), 0)
        assert index.verify() == []
        return content(index, LoggingEmbedder(log, model))
    finally:
        index.close()


def test_after_a_kill_at_any_instant_the_next_sync_equals_a_fresh_index(tmp_path: Path, worker: Worker) -> None:
    rng = random.Random(SEED)
    vault, folder, log = tmp_path / "vault", tmp_path / "index", tmp_path / "log"
    vault.mkdir()
    folder.mkdir()
    change(vault, rng)
    whole_seconds = 0.1
    killed = 0
    model = "one"
    for number in range(KILLS):
        if number % 10 == 0:  # from nothing again: kills of a first sync are another thing than those of later ones
            shutil.rmtree(folder)
            folder.mkdir()
        if number % 4 == 3:  # another model: all cards are chunked for it, and all is embedded again
            model = "other" if model == "one" else "one"
        process = worker.start(vault, folder, log, model)
        began = time.perf_counter()
        time.sleep(rng.uniform(0, whole_seconds))
        os.kill(process, signal.SIGKILL)
        status = worker.wait()
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            assert status == 0
            whole_seconds = time.perf_counter() - began
        if number % 3 == 2:  # else kill once more, on top of what this kill left behind
            fresh = tmp_path / f"fresh-{number}"
            fresh.mkdir()
            assert synced(vault, folder, log, model) == synced(vault, fresh, log, model)
            shutil.rmtree(fresh)
        change(vault, rng)
    assert killed >= KILLS // 3
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert synced(vault, folder, log, model) == synced(vault, fresh, log, model)


def test_two_processes_that_sync_at_once_embed_each_text_once(tmp_path: Path) -> None:
    vault, folder, log = tmp_path / "vault", tmp_path / "index", tmp_path / "log"
    vault.mkdir()
    folder.mkdir()
    for number in range(60):
        (vault / f"{number}.md").write_text(f"---\ndescription: card {number}\n---\n# Card {number}\n\ntext {number}")
    workers = [Worker(), Worker()]
    try:
        for worker in workers:
            worker.start(vault, folder, log)
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
