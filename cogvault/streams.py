"""Standard streams of a program that was started without some of them. Imports nothing else."""

from __future__ import annotations

import os
import sys

__all__ = ["open_streams"]


def open_streams() -> None:
    """Put the null device where standard input, output or error are closed.

    Else a file that is opened later may get one of their numbers, and what a library says there is written into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # opened in this order, each gets the lowest number that is free: its own
            number = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace"))
