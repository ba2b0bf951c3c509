"""A vault in use for a long time: memory, descriptors and threads stay flat, and nothing goes wrong.

``python -m tests.soak --seconds 600`` warms up, measures for so long, prints what was measured and exits with 1 when
something grew or failed.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from cogvault import Config, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.errors import PathError
from cogvault.types import Status
from tests.soak.flatness import slope

_CARDS = 150
_WORDS = [f"{kind}{number}" for kind in ("harbor", "ledger", "signal", "kiln", "orchard") for number in range(40)]
_FOLDERS = ("", "notes/", "notes/deep/", "projects/")
_WARM_UP_SHARE = 0.4
# Of so long the least memory counts: what one action takes and gives back is no growth, and a leak lifts the least too.
_SAMPLE_SECONDS = 0.5
_REST_SECONDS = 5.0
_PAUSE_SECONDS = 5.0
_MOST_RISE = 5
# What the allocator's own unrest may look like in a minute; a leak of one small object a search is far more.
_MOST_MB_PER_MINUTE = 0.5
_SHORT_MOST_MB_PER_MINUTE = 4.0
_SHORT_SECONDS = 300.0
_STATUSES = (Status.OK, Status.EMPTY, Status.DEGRADED, Status.STALE)

logger = logging.getLogger("tests.soak")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process took at one moment."""

    minutes: float
    memory_mb: float
    descriptors: int
    threads: int


def least(samples: list[Sample]) -> Sample:
    """The least memory of some samples, the most descriptors and threads, and when they ended."""
    return Sample(
        samples[-1].minutes,
        min(each.memory_mb for each in samples),
        max(each.descriptors for each in samples),
        max(each.threads for each in samples),
    )


class UseTime:
    """Seconds of use: while the process or the machine is stopped, no time passes."""

    def __init__(self) -> None:
        self._used = 0.0
        self._last = time.monotonic()

    def __call__(self) -> float:
        now = time.monotonic()
        gone, self._last = now - self._last, now
        self._used += gone if gone < _PAUSE_SECONDS else 0.0
        return self._used


class Errors(logging.Handler):
    """Keeps what cogvault logs as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


class User:
    """Uses a vault as people and agents do, at random."""

    def __init__(self, root: Path, config: Config, rng: random.Random) -> None:
        self.root, self.config, self.rng = root, config, rng
        self.counts: dict[str, int] = {}

    def open(self) -> Vault:
        return Vault(self.root, self.config, embedder=HashingEmbedder(64))

    def act(self, vault: Vault) -> None:
        """One thing that happens to a vault."""
        name = self.rng.choice(["search"] * 8 + ["edit"] * 4 + ["move", "delete", "add", "add", "read", "sync", "open"])
        self.counts[name] = self.counts.get(name, 0) + 1
        getattr(self, f"_{name}")(vault)

    def fill(self) -> None:
        for number in range(_CARDS):
            self._write(self.root / f"card-{number}.md")

    def _text(self) -> str:
        words = self.rng.choices(_WORDS, k=self.rng.randint(20, 200))
        paragraphs = [" ".join(words[start : start + 25]) for start in range(0, len(words), 25)]
        return f"---\ntitle: {words[0]} {words[1]}\ntags: [{self.rng.choice('abc')}]\n---\n" + "\n\n".join(paragraphs)

    def _write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.rng.random() < 0.5:
            file.write_text(self._text())
        else:
            beside = file.with_name(f".{file.name}")
            beside.write_text(self._text())
            beside.replace(file)

    def _files(self) -> list[Path]:
        return sorted(file for file in self.root.rglob("*.md") if not file.name.startswith("."))

    def _edit(self, vault: Vault) -> None:
        self._write(self.rng.choice(self._files()))

    def _add(self, vault: Vault) -> None:
        if len(self._files()) < _CARDS:
            self._write(self.root / f"{self.rng.choice(_FOLDERS)}new-{self.rng.randrange(1000)}.md")

    def _delete(self, vault: Vault) -> None:
        if len(self._files()) > _CARDS // 2:
            self.rng.choice(self._files()).unlink()

    def _move(self, vault: Vault) -> None:
        file = self.rng.choice(self._files())
        target = self.root / f"{self.rng.choice(_FOLDERS)}moved-{self.rng.randrange(1000)}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)

    def _search(self, vault: Vault) -> None:
        query = " ".join(self.rng.choices(_WORDS, k=self.rng.randint(1, 6)))
        kind = self.rng.randrange(4)
        if kind == 0:
            hits = vault.search(query, tags="a", k=20)
        elif kind == 1:
            hits = vault.search(query, path="notes", min_score=0.0)
        elif kind == 2:
            hits = vault.search(query, budget_tokens=600)
        else:
            hits = vault.search(query, explain=True)
        if hits.status not in _STATUSES:
            raise AssertionError(f"{hits.status}: {hits.reason}")

    def _read(self, vault: Vault) -> None:
        vault.layers()
        cards = vault.cards()
        if cards:
            id = self.rng.choice(cards).id
            try:
                vault.layers(id)
            except PathError:  # it was deleted, and nobody had looked until now
                if (self.root / id).exists():
                    raise
        vault.status()

    def _sync(self, vault: Vault) -> None:
        report = vault.sync(verify=self.rng.random() < 0.1)
        if report.failed:
            raise AssertionError(str(report))

    def _open(self, vault: Vault) -> None:
        with self.open() as other:
            self._search(other)


def sample(process: psutil.Process, seconds: float) -> Sample:
    """What the process takes now; mapped files, which the system takes back when it likes, are no memory of it."""
    memory = process.memory_info()
    private = memory.rss - getattr(memory, "shared", 0)
    return Sample(
        seconds / 60,
        private / 1e6,
        process.num_fds() if hasattr(process, "num_fds") else process.num_handles(),
        process.num_threads(),
    )


def soak(root: Path, index: Path, seconds: float, seed: int) -> tuple[list[Sample], dict[str, int]]:
    """Use a vault for so long; gives a sample for every half second, the least of it."""
    config = Config(model="none", recursive=True, index_dir=index, refresh_seconds=0.5, threads=1)
    user = User(root, config, random.Random(seed))
    user.fill()
    process = psutil.Process()
    samples: list[Sample] = []
    taken: list[Sample] = []
    used, due = UseTime(), _SAMPLE_SECONDS
    while used() < seconds:
        # A while with a watcher, a while without; then all is closed and opened again.
        with user.open() as vault:
            for watched in (True, False):
                watcher = vault.watch() if watched else None
                end = min(used() + 4, seconds)
                if watcher is not None:
                    watcher.__enter__()
                try:
                    while used() < end:
                        user.act(vault)
                        taken.append(sample(process, used()))
                        if taken[-1].minutes * 60 >= due:
                            due = taken[-1].minutes * 60 + _SAMPLE_SECONDS
                            samples.append(least(taken))
                            taken.clear()
                finally:
                    if watcher is not None:
                        watcher.close()
                        user.counts["watch"] = user.counts.get("watch", 0) + 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{samples[-1]}")
    return samples, user.counts


def at_rest(process: psutil.Process) -> Sample:
    """What the process takes when every vault is closed; tantivy's threads notice that a moment later."""
    gc.collect()
    end = time.monotonic() + _REST_SECONDS
    while process.num_threads() > threading.active_count() and time.monotonic() < end:
        time.sleep(0.1)
    return sample(process, 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("COGVAULT_SOAK_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    errors = Errors()
    logging.getLogger("cogvault").addHandler(errors)
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as temp:
        root, index = Path(temp) / "vault", Path(temp) / "index"
        root.mkdir()
        soak(root, index, 3.0, args.seed)  # so that what is loaded once is loaded
        before = at_rest(process)
        warm_up = args.seconds * _WARM_UP_SHARE
        samples, counts = soak(root, index, warm_up + args.seconds, args.seed)
        after = at_rest(process)
    warm = [each for each in samples if each.minutes * 60 > warm_up]
    minutes = [each.minutes for each in warm]
    growth = slope(minutes, [each.memory_mb for each in warm])
    most = _SHORT_MOST_MB_PER_MINUTE if args.seconds < _SHORT_SECONDS else _MOST_MB_PER_MINUTE
    faults = [*errors.said]
    if growth > most:
        faults.append(f"memory grows by {growth:.2f} MB a minute, more than {most}")
    for name in ("descriptors", "threads"):
        if getattr(after, name) > getattr(before, name):
            faults.append(f"{name}: {getattr(before, name)} before, {getattr(after, name)} after all was closed")
        rise = slope(minutes, [getattr(each, name) for each in warm]) * args.seconds / 60
        if rise > _MOST_RISE:
            faults.append(f"{name} grow by {rise:.1f}")
    out = sys.stdout.write
    out(f"actions      {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}\n")
    out(f"memory       {warm[0].memory_mb:.1f} MB after warming up, {warm[-1].memory_mb:.1f} MB at the end, ")
    out(f"slope {growth:+.3f} MB a minute\n")
    out(f"descriptors  {max(each.descriptors for each in warm)} at most, {before.descriptors} and {after.descriptors} ")
    out("at rest before and after\n")
    out(f"threads      {max(each.threads for each in warm)} at most, {before.threads} and {after.threads} at rest ")
    out(f"before and after, {threading.active_count()} of Python\n")
    for fault in faults:
        out(f"FAULT        {fault}\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
