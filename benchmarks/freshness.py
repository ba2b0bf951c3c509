"""From saving an edit to its being found by a watching process, and what searches take beside a sync."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import beside
from benchmarks.rows import Row
from benchmarks.sync import write_cards
from cogvault import Config, Vault

_SUBJECTS = (
    "billing service",
    "login page",
    "nightly backup",
    "search cluster",
    "mobile app",
    "payroll export",
    "office printer",
    "warehouse scanner",
    "staff newsletter",
    "weather station",
)
_STATEMENTS = (
    "The {} runs on a rented machine in Frankfurt now.",
    "Maria looks after the {} while Tom is on parental leave.",
    "Nobody may restart the {} on a Friday afternoon.",
    "The {} failed twice last week because a certificate had expired.",
    "We decided to pay for a yearly license of the {}.",
    "An audit found that the {} keeps personal data too long.",
    "The {} will be switched off at the end of March.",
    "Customers complain that the {} is slow in the morning.",
    "The manual of the {} was translated into Ukrainian.",
    "For the {} we need a spare part from Osaka.",
)
_LOOK_SECONDS = 0.02
_GIVE_UP_SECONDS = 60.0
# Edits do not come in step with anything the watcher does.
_MOST_PAUSE_SECONDS = 1.0


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edits", type=int, default=100, help="0 = leave this part out")
    parser.add_argument("--cards", type=int, default=200, help="cards in the vault")
    parser.add_argument("--model", default="bundled")
    beside.options(parser)


def run(args: argparse.Namespace) -> list[Row]:
    return [*(_edits(args) if args.edits else ()), *(beside.run(args) if args.searches else ())]


def _edits(args: argparse.Namespace) -> list[Row]:
    """While ``cogvault watch`` runs in a process of its own."""
    rng = random.Random(11)
    found: dict[str, list[float]] = {"keyword": [], "semantic": []}
    with tempfile.TemporaryDirectory() as temp:
        folder, index = Path(temp) / "vault", Path(temp) / "index"
        write_cards(folder, args.cards)
        vaults = {name: Vault(folder, Config(model=args.model, index_dir=index, rankers=(name,))) for name in found}
        with vaults["keyword"], vaults["semantic"], _watching(folder, index, args.model):
            for number in range(args.edits):
                time.sleep(rng.random() * _MOST_PAUSE_SECONDS)
                word = f"edit{number:03}zebrafinch"
                said = _STATEMENTS[number // 10 % 10].format(_SUBJECTS[number % 10])
                card = folder / f"card-{number % args.cards:05}.md"
                saved = _save(card, f"# Note\n\n{said} {word}\n", over=number % 2 == 1)
                for ranker, query in (("keyword", word), ("semantic", said)):
                    found[ranker].append(_found(vaults[ranker], query, word) - saved)
                if sys.stderr.isatty():
                    sys.stderr.write(f"\r{number + 1}/{args.edits} edits")
    rows = []
    for name, seconds in found.items():
        rows.append(Row("default", name, "median_s", float(np.median(seconds)), len(seconds)))
        rows.append(Row("default", name, "worst_s", max(seconds), len(seconds)))
    return rows


def _save(card: Path, text: str, *, over: bool) -> float:
    """Save as editors do, in place or over the old file; when that was done."""
    target = card.with_name(f"{card.name}.tmp") if over else card
    target.write_text(text, encoding="utf-8")
    if over:
        target.replace(card)
    return time.perf_counter()


def _found(vault: Vault, query: str, word: str) -> float:
    """When a search for the query gives, among its first five hits, a passage with the word."""
    end = time.perf_counter() + _GIVE_UP_SECONDS
    while not any(word in hit.text for hit in vault.search(query, k=5, min_score=0.0, sync=False)):
        if time.perf_counter() > end:
            raise SystemExit(f"an edit was not found within {_GIVE_UP_SECONDS:.0f} s")
        time.sleep(_LOOK_SECONDS)
    return time.perf_counter()


@contextmanager
def _watching(folder: Path, index: Path, model: str) -> Iterator[None]:
    """A watching process that has indexed and embedded everything."""
    environ = {**os.environ, "COGVAULT_INDEX_DIR": str(index), "COGVAULT_MODEL": model}
    command = [sys.executable, "-m", "cogvault_cli", "watch", str(folder), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, encoding="utf-8")
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said = json.loads(line)
            if said["event"] == "sync" and not said["pending_vectors"]:
                break
        yield
    finally:
        process.terminate()
        process.communicate()
