"""Where the console script begins: a hook is answered before the command line is imported, which costs more."""

from __future__ import annotations

import sys

from cogvault_cli.hooks.event import EVENTS


def main() -> None:
    """Run the command line of this process. Never returns: ends it with an exit code."""
    match sys.argv[1:]:
        case ["hook", name] if name in EVENTS:
            from cogvault_cli.hooks.run import run

            run(name)
            sys.exit(0)
        case _:
            from cogvault_cli.main import main as run_commands

            run_commands()
