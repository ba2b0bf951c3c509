"""Bytes of an ignore file to its lines. Pure.

What an owner wants left out must not be searchable because of how an editor saved the list: whatever cannot be read
makes a pattern wider, never void.
"""

from __future__ import annotations

import codecs
import re

from cogvault.types import Problem

__all__ = ["ignore_lines"]

_LOST = re.compile("[\udc80-\udcff\ufffd]+")
_HINT = "save the file as UTF-8"


def ignore_lines(data: bytes, source: str) -> tuple[list[str], list[Problem]]:
    """Lines of UTF-8 or UTF-16, with or without a byte order mark, and what of them could not be read.

    In a line of another encoding every run of unreadable characters counts as ``*``; a negated one (``!``), which
    would bring more back than was meant, does not count at all.

    Args:
        data: the file.
        source: where it is, for problems.

    >>> ignore_lines("kept secret/\\ncafé.md\\n".encode("latin-1"), "f")[0]
    ['kept secret/', 'caf*.md']
    """
    encoding = _encoding(data)
    text = data.decode(encoding, "surrogateescape" if encoding == "utf-8-sig" else "replace")
    problems: list[Problem] = []
    if b"\x00" in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        message = f"NUL bytes: read as UTF-16, for which the byte order mark is missing; {_HINT}"
        problems.append(Problem(source, "ignore-unreadable", message))
    lines = text.splitlines()
    if _LOST.search(text) is None:
        return lines, problems
    for index, line in enumerate(lines):
        if line.startswith("#") or _LOST.search(line) is None:
            continue
        is_negated = line.startswith("!")
        lines[index] = "" if is_negated else _LOST.sub("*", line)
        what = "the line is not used" if is_negated else f"read as {lines[index]}"
        problems.append(Problem(source, "ignore-unreadable", f"not UTF-8: {what}; {_HINT}", line=index + 1))
    return lines, problems


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x00" not in data:
        return "utf-8-sig"
    return "utf-16-le" if data[1::2].count(0) >= data[::2].count(0) else "utf-16-be"
