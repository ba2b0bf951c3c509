"""``make fuzz``: first every shape in three sizes, then atheris on each target for so many seconds.

Found inputs are written to the folder named by ``--found``; run one again with ``--replay FILE``.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.shapes import SHAPES
from tests.fuzz.targets import TARGETS

SIZES = (50_000, 100_000, 200_000)
# What is linear doubles; hardly anything takes a tenth of a second before its curve shows.
MOST_GROWTH = 1.5
WORTH_LOOKING_AT_SECONDS = 0.3
SECONDS_PER_BYTE = 3 / 100_000
_SEED_BYTES = 300
# By the clock, which goes on while the machine does other things: what hangs takes hours.
_HANG_SECONDS = 120


def main() -> int:
    """Run all of it; 1 when something was found."""
    sys.stdout.reconfigure(line_buffering=True)  # it goes into files too, and takes minutes
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("--seconds", type=int, default=60, help="of atheris for each target; 0 = shapes only")
    arguments.add_argument("--targets", default=",".join(TARGETS), help="names, separated by commas")
    arguments.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for inputs that fail")
    arguments.add_argument("--replay", type=Path, help="run one input through the first target")
    arguments.add_argument("--atheris", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    names: list[str] = options.targets.split(",")
    if options.replay is not None:
        TARGETS[names[0]](options.replay.read_bytes())
        return 0
    if options.atheris:
        return _fuzz(names[0], options.seconds, options.found)
    failed = [name for name in names if not _grows_with_size_only(name)]
    is_here = importlib.util.find_spec("atheris") is not None
    if options.seconds and not is_here:
        print("atheris is not here (it is made for Linux on x86-64): that was all")
    for name in names if options.seconds and is_here else ():
        print(f"== {name}: {options.seconds} s of atheris")
        command = [sys.executable, "-m", "tests.fuzz", "--atheris", "--targets", name]
        command += ["--seconds", str(options.seconds), "--found", str(options.found)]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    print(f"found something in: {', '.join(failed)}" if failed else "nothing found")
    return int(bool(failed))


def _grows_with_size_only(name: str) -> bool:
    """Time of one target on every shape; prints what grows faster than its input, or takes too long."""
    is_good, slowest, slowest_shape = True, 0.0, ""
    for shape, make in SHAPES.items():
        spent = []
        for size in SIZES:
            data = make(size)
            before = time.process_time()
            TARGETS[name](data)
            spent.append(max(time.process_time() - before, 1e-6))
            if spent[-1] > 2 * SECONDS_PER_BYTE * size:
                break
        growth = math.log2(spent[-1] / spent[-2]) if len(spent) > 1 else math.inf
        is_steep = growth > MOST_GROWTH and spent[-1] > WORTH_LOOKING_AT_SECONDS
        if is_steep or spent[-1] > SECONDS_PER_BYTE * SIZES[len(spent) - 1]:
            is_good = False
            print(f"{name}: {shape} takes {spent[-1]:.2f} s, to the power {growth:.1f} of its size")
        if spent[-1] > slowest:
            slowest, slowest_shape = spent[-1], shape
    print(f"{name}: {len(SHAPES)} shapes, slowest {slowest_shape}: {slowest:.2f} s for {SIZES[-1]} bytes")
    return is_good


def _fuzz(name: str, seconds: int, found: Path) -> int:
    """Let atheris look for inputs that fail; does not return when it has any."""
    import atheris

    atheris.instrument_all()
    corpus = found / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for shape, make in SHAPES.items():
        (corpus / shape).write_bytes(make(_SEED_BYTES))
    limits = [f"-max_total_time={seconds}", f"-timeout={_HANG_SECONDS}", "-rss_limit_mb=2048", "-max_len=4096"]
    atheris.Setup([name, *limits, f"-artifact_prefix={found}/{name}-", str(corpus)], TARGETS[name])
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
