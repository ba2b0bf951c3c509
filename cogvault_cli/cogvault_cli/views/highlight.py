"""Where the words of a query stand in a text. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

STEM_LENGTH = 5


def spans(text: str, matched: Iterable[str]) -> list[tuple[int, int]]:
    """Start and end of every word that begins with the first letters of a matched word.

    Numbers, keys and paths count whole; words of scripts written without spaces are found anywhere.

    >>> spans("Backups are kept. We back up nightly.", ["backup"])
    [(0, 7)]
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    found: set[tuple[int, int]] = set()
    for word in matched:
        stem = (word[:STEM_LENGTH] if _is_plain(word) else word).lower()
        start = lowered.find(stem) if stem else -1
        while start != -1:
            end = start + len(stem)
            if _is_dense(stem):
                found.add((start, end))
            elif start == 0 or not _in_word(text[start - 1]):
                while end < len(text) and _in_word(text[end]):
                    end += 1
                found.add((start, end))
            start = lowered.find(stem, start + 1)
    return sorted(found)


def _is_plain(word: str) -> bool:
    """True for letters only: of a number, a key or a path, the first letters say nothing."""
    return all(_in_word(character) and not character.isdigit() for character in word)


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _is_dense(stem: str) -> bool:
    """True for letters without case that are no part of an alphabet: Chinese, Japanese, Korean, Thai and the like."""
    return any(unicodedata.category(character) == "Lo" and ord(character) >= 0x0E00 for character in stem)
