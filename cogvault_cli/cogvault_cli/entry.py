"""Where the console script begins: a hook is answered before the command line is imported, which costs more."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line of this process. Never returns: ends it with an exit code."""
    _read_names()
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == 3:
        from cogvault_cli.hooks.event import EVENTS

        if sys.argv[2] in EVENTS:
            from cogvault_cli.hooks.run import run

            run(sys.argv[2])
            sys.exit(0)
    from cogvault_cli.main import main as run_commands

    run_commands()


def _read_names() -> None:
    """Begin anew where Python would not read names of files as UTF-8, whatever the locale.

    Else cards whose names are not ASCII would be no files of the vault, and go from an index that others made.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8":
        return
    os.environ["PYTHONUTF8"] = "1"
    if sys.stdout is not None:  # it may be closed
        os.environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)  # what is printed stays as it was
    # The first -X counts, also where the environment is not asked (-E, -I): what begins anew does not do so again.
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
