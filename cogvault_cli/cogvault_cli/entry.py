"""Where the console script begins: a hook is answered before the command line is imported, which costs more."""

from __future__ import annotations

import sys

from cogvault.streams import open_streams
from cogvault.utf8 import read_names_as_utf8


def main() -> None:
    """Run the command line of this process. Never returns: ends it with an exit code."""
    read_names_as_utf8()
    open_streams()
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == 3:
        from cogvault_cli.hooks.event import EVENTS

        if sys.argv[2] in EVENTS:
            from cogvault_cli.hooks.run import run

            run(sys.argv[2])
            sys.exit(0)
    from cogvault_cli.main import main as run_commands

    run_commands()
