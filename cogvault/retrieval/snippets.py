"""A short excerpt of a text around the words of a query. Pure."""

from __future__ import annotations

import regex

from cogvault.text.normalise import fold
from cogvault.text.tokens import stem, words

SNIPPET_CHARS = 240
_SPACE = regex.compile(r"\s+")


def matched_words(text: str, query_words: tuple[str, ...]) -> tuple[str, ...]:
    """Query words whose exact form or stem stands in the text, in the query's order."""
    present = {stem(word) for word in words(text)}
    return tuple(word for word in query_words if stem(word) in present)


def snippet(text: str, matched: tuple[str, ...], size: int = SNIPPET_CHARS) -> str:
    """At most ``size`` characters of the text on one line, around the densest run of matched words.

    Cut at spaces where there are some; a cut is shown by an ellipsis.
    """
    line = _SPACE.sub(" ", text.replace("\0", "")).strip()
    if len(line) <= size:
        return line
    start = _best_start(line, tuple(stem(word) for word in matched), size)
    end = min(len(line), start + size)
    if start > 0 and (space := line.find(" ", start, start + 24)) != -1:
        start = space + 1
    if end < len(line) and (space := line.rfind(" ", end - 24, end)) != -1:
        end = space
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _best_start(line: str, stems: tuple[str, ...], size: int) -> int:
    """Start of the window that holds the most distinct stems; the earliest of equals."""
    folded = fold(line)
    if len(folded) != len(line) or not stems:
        folded = line.lower() if len(line.lower()) == len(line) else line
    places = sorted((at.start(), part) for part in stems for at in regex.finditer(regex.escape(part), folded))[:2000]
    best, best_count, left = 0, 0, 0
    for right in range(len(places)):
        while places[right][0] - places[left][0] > size - 40:
            left += 1
        count = len({part for _, part in places[left : right + 1]})
        if count > best_count:
            best, best_count = places[left][0], count
    return max(0, min(best - 30, len(line) - size))
