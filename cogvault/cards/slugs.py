"""Titles to file names. Pure."""

from __future__ import annotations

import hashlib

import regex

from cogvault.text.normalise import fold, nfc, visible

# Whatever is no letter, mark or digit sets words apart; a mark without a base letter is none either.
_GAP = regex.compile(r"(?:[^\p{L}\p{M}\p{N}]++\p{M}*+)++")
_LEADING_MARKS = regex.compile(r"^\p{M}+")
_GRAPHEME = regex.compile(r"\X")
_RESERVED = regex.compile(r"(?:con|prn|aux|nul|conin|conout|(?:com|lpt)[0-9])")


def slug(title: str, max_bytes: int = 120) -> str:
    """A file stem for a title: its letters, marks and digits in lower case, joined by ``-``.

    Never empty, never a reserved name; a title without letters and digits gives ``card-`` and eight hex digits of its
    hash, so that different ones differ. The same title always gives the same slug; making slugs unique is the caller's.

    Args:
        title: any text.
        max_bytes: length limit in UTF-8, at least 16; cut where a character with its marks ends.

    >>> slug("Why we chose SQLite: a decision")
    'why-we-chose-sqlite-a-decision'
    """
    text = nfc(visible(visible(title).lower()))
    text = _LEADING_MARKS.sub("", _GAP.sub("-", text).strip("-"))
    text = cut(text, max_bytes).strip("-")
    if not any(char.isalnum() for char in text):
        return f"card-{hashlib.sha256(title.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return f"{text}-card" if _RESERVED.fullmatch(fold(text)) else text


def cut(text: str, max_bytes: int) -> str:
    """The beginning of a text within so many bytes of UTF-8, up to where a character with its marks ends."""
    if len(text.encode()) <= max_bytes:
        return text
    kept: list[str] = []
    room = max_bytes
    for match in _GRAPHEME.finditer(text[:max_bytes]):
        room -= len(match.group().encode())
        if room < 0:
            break
        kept.append(match.group())
    return "".join(kept)
