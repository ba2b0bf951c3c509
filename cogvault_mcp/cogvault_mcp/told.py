"""What somebody on another machine may be told: nothing of where things are on the disk of this one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["without_places"]

_END = r"""(?=$|[/\\\s:;,'")])"""
# An absolute path; not the rest of a relative one or of an address.
_PLACE = re.compile(r"""(?<![\w.~:/\\])(?:~?/|\\\\|[A-Za-z]:[/\\])[^\s:;,'")]+""")


def without_places(folder: Path) -> Callable[[str], str]:
    """A function for messages: paths of the vault begin with ``the vault``, of others no more than ``…`` is left.

    Args:
        folder: the vault.
    """
    own = {str(folder), str(folder.resolve())} - {folder.anchor}
    vault = re.compile("|".join(f"{re.escape(path)}{_END}" for path in sorted(own, key=len, reverse=True)) or "(?!)")

    def told(message: str) -> str:
        return _PLACE.sub("…", vault.sub("the vault", message))

    return told
