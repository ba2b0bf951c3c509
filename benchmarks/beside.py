"""How long a search takes while another process keeps the index: one edit after the other, or a heap of new cards."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, note
from benchmarks.sync import write_cards
from benchmarks.words import sentences
from cogvault import Config, Vault
from cogvault.embedders import BundledEmbedder
from cogvault.types import FloatArray

# Both say a line when they are at work, and go on until they are killed.
_EDITS = """
import random, sys
from pathlib import Path
from cogvault import Config, Vault
folder, index = Path(sys.argv[1]), sys.argv[2]
cards, rng = sorted(folder.glob("card-*.md")), random.Random(5)
with Vault(folder, Config(index_dir=index)) as vault:
    while True:
        for number in range(20):
            with rng.choice(cards).open("a", encoding="utf-8") as file:
                file.write(f"\\nAnd the reviewer of part {number} said {rng.random()}\\n")
            vault.sync()
            if not number:
                print("at work", flush=True)
"""
_EMBEDS = """
import sys
from cogvault import Config, Vault
with Vault(sys.argv[1], Config(index_dir=sys.argv[2])) as vault:
    vault.sync(progress=lambda step: step.stage == "vectors" and step.done and print("at work", flush=True))
"""
# Apart, as people and agents ask; and not in step with anything that the other process does.
_PAUSE_SECONDS = 0.05
_WORDS = 4


class Prefilled(BundledEmbedder):
    """The bundled model, but what it gives for cards means nothing: only that there are so many vectors counts."""

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        vectors = np.random.default_rng(len(texts)).standard_normal((len(texts), self.dim)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--searches", type=int, default=300, help="searches in each state, 0 = leave this part out")
    parser.add_argument("--vault-cards", type=int, default=3000, help="cards in the vault that is searched")


def run(args: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as temp:
        folder, index = Path(temp) / "vault", Path(temp) / "index"
        config = Config(index_dir=index)
        write_cards(folder, 2 * args.vault_cards)
        later = sorted(folder.iterdir())[args.vault_cards :]
        for card in later:
            card.rename(Path(temp) / card.name)
        with Vault(folder, config, embedder=Prefilled(Path(temp) / "cache")) as vault:
            vault.sync()
        with Vault(folder, config) as vault:
            _p95_ms(vault, 20)  # so that what is loaded once is loaded
            quiet = _p95_ms(vault, args.searches)
            with _at_work(_EDITS, folder, index):
                edits = _p95_ms(vault, args.searches)
            for card in later:
                (Path(temp) / card.name).rename(card)
            with _at_work(_EMBEDS, folder, index) as process:
                embedding = _p95_ms(vault, args.searches)
                if process.poll() is not None:
                    raise SystemExit("all was embedded before the last search: use fewer searches or more cards")
    rows = [Row("default", "search", "quiet_p95_ms", quiet, args.searches)]
    for unit, value in (("search, edits", edits), ("search, embedding", embedding)):
        rows.append(Row("default", unit, "syncing_p95_ms", value, args.searches))
        rows.append(Row("default", unit, "ratio", value / quiet, args.searches))
    return rows


def _p95_ms(vault: Vault, searches: int) -> float:
    rng, taken = random.Random(3), []
    for _ in range(searches):
        query = " ".join(sentences(rng, 1)[0].split()[:_WORDS])
        time.sleep(_PAUSE_SECONDS * 2 * rng.random())
        began = time.perf_counter()
        vault.search(query)
        taken.append((time.perf_counter() - began) * 1000)
    note(f"p50 {np.median(taken):.1f}, p95 {np.quantile(taken, 0.95):.1f}, worst {max(taken):.1f} ms")
    return float(np.quantile(taken, 0.95))


@contextmanager
def _at_work(program: str, folder: Path, index: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that began to work and is killed at the end."""
    command = [sys.executable, "-c", program, str(folder), str(index)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise SystemExit("the other process did not come to work")
        yield process
    finally:
        process.kill()
        process.communicate()
