"""Blank lines where Markdown needs them. Pure."""

from __future__ import annotations

import re

__all__ = ["needs_blank_between"]

_ITEM = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]")
_ROW = re.compile(r"[ \t]*\|")


def needs_blank_between(line: str, following: str) -> bool:
    """False where a blank line would cut a list or a table in two.

    >>> needs_blank_between("- one", "- two"), needs_blank_between("text", "more")
    (False, True)
    """
    return not any(pattern.match(line) and pattern.match(following) for pattern in (_ITEM, _ROW))
