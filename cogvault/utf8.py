"""Names of files are UTF-8, whatever the locale says: for the first line of a program. Imports nothing else."""

from __future__ import annotations

import os
import sys

__all__ = ["read_names_as_utf8"]


def read_names_as_utf8() -> None:
    """Begin the program of this process anew where Python would not read names of files as UTF-8.

    Else cards whose names are not ASCII would be no files of the vault, and go from an index that others made.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8":
        return
    os.environ["PYTHONUTF8"] = "1"
    if sys.stdout is not None:  # it may be closed
        os.environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)  # what is printed stays as it was
    # The first -X counts, also where the environment is not asked (-E, -I): what begins anew does not do so again.
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
