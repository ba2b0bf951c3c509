"""Recall at size, without query embedding, against the usual SQLite stack in the same run, on the same texts."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.baselines.sqlite_stack import SqliteStack
from benchmarks.corpus import DIM, ClusterEmbedder, batches, question
from benchmarks.rows import Row, note
from benchmarks.systems import STILL
from cogvault import Config, Vault
from cogvault.indexes import LocalIndex
from cogvault.types import ChangeSet, Filter, IndexIdentity, VectorBatch

WARM = 20
SCANS = 30
# What a cache gives is not the memory's bandwidth.
_BEYOND_CACHES_BYTES = 512 * 2**20

# Open and first search, and the most memory that any search left, in a process of its own.
_CHILD = """
import json, sys, time
import numpy, cogvault.vault, benchmarks.corpus
import benchmarks.speed as speed
def held():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024
questions = json.loads(sys.argv[4])
embedder = benchmarks.corpus.ClusterEmbedder(questions)
started = time.perf_counter()
ask = speed.open_system(*sys.argv[1:4], embedder)
ask(questions[0])
opened = time.perf_counter() - started
memory = [held() for text in questions if ask(text) is not None]
print(json.dumps({"open_s": opened, "rss_mb": max(memory)}))
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", default="10000,100000", help="numbers of chunks, comma separated")
    parser.add_argument("--queries", type=int, default=200, help="how many questions are timed, after 20 to warm up")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--remove", type=float, default=0.0, help="then remove this share of the cards, ask again")
    parser.add_argument("--keep", type=Path, help="fill in this folder, and use what an earlier run filled there")


def run(args: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for number in args.chunks.split(","):
        with tempfile.TemporaryDirectory() as temp:
            folder = args.keep / number if args.keep else Path(temp)
            rows.extend(_measure(int(number), folder, args.queries))
            if args.remove:
                rows.extend(_after_removal(int(number), folder, args.remove, args.queries))
    return rows


def _measure(chunks: int, temp: Path, queries: int) -> list[Row]:
    unit = str(chunks)
    filled = temp / "filled"
    if not filled.exists():
        _fill(chunks, temp)
        filled.touch()
    rng = random.Random(11)
    questions = [question(rng) for _ in range(queries + WARM)]
    rows: list[Row] = []
    medians: dict[str, float] = {}
    embedder = ClusterEmbedder(questions)
    for system in ("sqlite_stack", "default"):
        ask = open_system(system, str(temp), unit, embedder)
        times = _times(ask, questions)
        p50, p95 = np.quantile(times, [0.5, 0.95])
        medians[system] = float(p50)
        child = subprocess.run(
            [sys.executable, "-c", _CHILD, system, str(temp), unit, json.dumps(questions)],
            check=True,
            capture_output=True,
            text=True,
        )
        own = json.loads(child.stdout)
        rows += [
            Row(system, unit, "p50_ms", float(p50), len(times)),
            Row(system, unit, "p95_ms", float(p95), len(times)),
            Row(system, unit, "open_s", own["open_s"]),
            Row(system, unit, "rss_mb", own["rss_mb"]),
            Row(system, unit, "disk_mb", _disk(temp / system)),
        ]
    rows.append(Row("default", unit, "speedup", medians["sqlite_stack"] / medians["default"]))
    rows.append(Row("default", unit, "scan_over_bandwidth", _scan(temp, chunks)))
    return rows


def _after_removal(chunks: int, filled: Path, share: float, queries: int) -> list[Row]:
    """The same questions before and after cards went from a copy of the index, and how long their removal took."""
    rng = random.Random(11)
    questions = [question(rng) for _ in range(queries + WARM)]
    embedder = ClusterEmbedder(questions)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temp:
        _made(Path(temp) / "vault")
        shutil.copytree(filled / "default", Path(temp) / "default")
        for when in ("before", "after"):
            if when == "after":
                rows.append(Row("default", str(chunks), "removal_s", _timed(lambda: _remove(Path(temp), share))))
            p50, p95 = np.quantile(_times(open_system("default", temp, str(chunks), embedder), questions), [0.5, 0.95])
            rows += [
                Row("default", str(chunks), f"p50_ms_{when}_removal", float(p50), queries),
                Row("default", str(chunks), f"p95_ms_{when}_removal", float(p95), queries),
                Row("default", str(chunks), f"disk_mb_{when}_removal", _disk(Path(temp) / "default")),
            ]
    return rows


def _remove(temp: Path, share: float) -> None:
    """Remove a share of the cards, evenly spread, as a sync would: in one change."""
    index = LocalIndex(temp / "default")
    ids = [card.id for card in index.snapshot().cards]
    index.apply(ChangeSet(remove=tuple(random.Random(7).sample(ids, int(len(ids) * share)))))
    index.close()


def _fill(chunks: int, temp: Path) -> None:
    (temp / "vault").mkdir(parents=True)
    stack = SqliteStack(_made(temp / "sqlite_stack") / "stack.sqlite", DIM)
    index = LocalIndex(temp / "default")
    embedder = ClusterEmbedder()
    index.apply(ChangeSet(identity=IndexIdentity("speed", embedder.fingerprint, embedder.name, DIM)))
    started = time.perf_counter()
    done = 0
    for records, vectors in batches(chunks):
        index.apply(ChangeSet(put=records))
        pending = index.snapshot().pending(embedder.fingerprint, len(vectors))
        ids = np.array([stored.id for stored in pending], dtype=np.int64)
        index.apply(ChangeSet(vectors=VectorBatch(embedder.fingerprint, ids, vectors[: len(ids)])))
        texts = [chunk.text for record in records for chunk in record.chunks[1:]]
        stack.add(texts, vectors)
        done += len(texts)
        if done % 50_000 < len(texts):
            note(f"{done} chunks in {time.perf_counter() - started:.0f} s")
    index.close()
    stack.close()


def open_system(system: str, temp: str, chunks: str, embedder: ClusterEmbedder) -> Callable[[str], object]:
    """A callable that asks one system one question."""
    if system == "sqlite_stack":
        stack = SqliteStack(Path(temp) / system / "stack.sqlite", DIM)
        return lambda text: stack.search(text, embedder.embed_query(text))
    config = Config(model="cluster", refresh_seconds=STILL)
    vault = Vault(Path(temp) / "vault", config, embedder=embedder, index=LocalIndex(Path(temp) / "default"))
    return lambda text: vault.search(text, sync=False)


def _times(ask: Callable[[str], object], questions: list[str]) -> list[float]:
    times = []
    for place, text in enumerate(questions):
        started = time.perf_counter()
        ask(text)
        if place >= WARM:
            times.append((time.perf_counter() - started) * 1000)
    return times


def _scan(temp: Path, chunks: int) -> float:
    """Time of the vector scan over the time that reading its bytes takes at the machine's memory bandwidth."""
    index = LocalIndex(temp / "default")
    snapshot = index.snapshot()
    # A new vector each time: the snapshot remembers what it computed for the last one.
    vectors = iter(ClusterEmbedder().draw(np.random.default_rng(1), SCANS + 1))
    snapshot.semantic(next(vectors), Filter(), 200)
    scan = float(np.median([_timed(lambda: snapshot.semantic(next(vectors), Filter(), 200)) for _ in range(SCANS)]))
    index.close()
    bandwidth = _bandwidth()
    note(f"memory bandwidth {bandwidth / 1e9:.1f} GB/s, scan {scan * 1000:.2f} ms")
    return scan / (chunks * DIM / bandwidth)


def _bandwidth() -> float:
    """Bytes a second that memory gives to a copy, which reads and writes each."""
    source = np.ones(_BEYOND_CACHES_BYTES, dtype=np.int8)
    target = np.empty_like(source)
    return 2 * source.nbytes / float(np.median([_timed(lambda: np.copyto(target, source)) for _ in range(SCANS)]))


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _disk(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
