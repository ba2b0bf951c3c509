"""How long a user waits for a fresh process: ``cogvault search`` on the example vault, ``--help``, the import."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.rows import ROOT, Row

RUNS = 7


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="bundled")


def run(args: argparse.Namespace) -> list[Row]:
    vault = str(ROOT / "examples" / "memory")
    command = str(Path(sys.executable).with_name("cogvault"))
    with tempfile.TemporaryDirectory() as temp:
        environment = {**os.environ, "COGVAULT_INDEX_DIR": temp, "COGVAULT_MODEL": args.model, "COGVAULT_LOG": "off"}
        _wall([command, "index", "--tenant", vault, "--recursive"], environment)
        search = [command, "search", "--tenant", vault, "--recursive", "why did we move away from Redis"]
        return [
            Row("default", "search", "wall_s", _median(search, environment), RUNS),
            Row("default", "help", "wall_s", _median([command, "--help"], environment), RUNS),
            Row("default", "import", "wall_s", _median([sys.executable, "-c", "import cogvault"], environment), RUNS),
        ]


def _median(command: list[str], environment: dict[str, str]) -> float:
    _wall(command, environment)
    return float(np.median([_wall(command, environment) for _ in range(RUNS)]))


def _wall(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started
