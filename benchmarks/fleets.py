"""Many vaults in one process with one model: time to open one, and memory that they take beside the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.rows import Row, note
from benchmarks.sync import write_cards
from cogvault import Config, Fleet
from cogvault.fleet import TENANTS

CARDS = 200
_QUESTION = "which of the words was said last"

# In a process of its own, so that nothing but the fleet is measured. The first vault pays for imports and the model.
_CHILD = """
import gc, json, os, sys, time
from pathlib import Path
from cogvault import Config, Fleet
root, base, question = map(str, sys.argv[1:4])
config = Config(model=sys.argv[4], index_dir=Path(base) / "i", cache_dir=Path(base) / "c", state_dir=Path(base) / "s",
                log="off", refresh_seconds=3600)
rss = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
with Fleet(root, config, max_open=1000) as fleet:
    first, *others = fleet.tenants()
    with fleet.vault(first) as vault:
        for _ in range(20):
            vault.search(question)
    gc.collect()
    before, times = rss(), []
    for tenant in others:
        began = time.perf_counter()
        with fleet.vault(tenant) as vault:
            vault.cards()
            times.append(time.perf_counter() - began)
            if not vault.search(question, min_score=0.0):
                raise SystemExit("nothing found")
    gc.collect()
    extra, woken, awake = rss() - before, [], []
    # Whoever was used longest ago is next: with more vaults than stay awake, each has to be read again.
    for tenant in others:
        with fleet.vault(tenant) as vault:
            for kept in (woken, awake):
                began = time.perf_counter()
                vault.search(question, min_score=0.0)
                kept.append(time.perf_counter() - began)
    median = lambda values: 1000 * sorted(values)[len(values) // 2]
    print(json.dumps({"open_ms": median(times), "extra_mb": extra, "next_search_ms": median(woken),
                      "search_ms": median(awake), "again_mb": rss() - before}))
"""


def measure(base: Path, vaults: int, model: str) -> list[Row]:
    """Rows of the fleet.

    Args:
        base: an empty folder.
        vaults: how many vaults of 200 cards are open at once, after the first.
        model: as ``Config.model``.
    """
    config = Config(model=model, index_dir=base / "i", cache_dir=base / "c", state_dir=base / "s", log="off")
    with Fleet(_root(base), config, max_open=1) as fleet:
        for number in range(vaults + 1):
            write_cards(base / "root" / TENANTS / f"t{number:03}", CARDS)
            with fleet.vault(f"t{number:03}") as vault:
                vault.sync()
    note(f"{vaults + 1} vaults of {CARDS} cards indexed")
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, str(base / "root"), str(base), _QUESTION, model],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    own = json.loads(child.stdout)
    return [Row("default", "fleet", metric, value, vaults) for metric, value in own.items()]


def _root(base: Path) -> Path:
    (base / "root" / TENANTS).mkdir(parents=True)
    return base / "root"
