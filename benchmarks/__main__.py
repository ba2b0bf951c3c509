"""``python -m benchmarks NAME [options] [--json]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import show

NAMES = (
    "ablate",
    "abstain",
    "agents",
    "cascade",
    "embed",
    "freshness",
    "locomo",
    "recall",
    "speed",
    "startup",
    "sync",
    "write",
    "xquad",
)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] not in NAMES:
        sys.stderr.write(f"usage: python -m benchmarks {{{','.join(NAMES)}}} [options] [--json]\n")
        return 2
    name = arguments[0]
    module = importlib.import_module(f"benchmarks.{name}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    module.options(parser)
    args = parser.parse_args(arguments[1:])
    rows = module.run(args)
    # Of a folder only its name: where it lies is this machine's matter.
    config = {k: v.name if isinstance(v, Path) else v for k, v in vars(args).items() if k != "json"}
    show(name, config, rows, as_json=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
