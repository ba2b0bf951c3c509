"""A short excerpt of a text around the words of a query. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from cogvault.text.normalise import fold, visible
from cogvault.text.tokens import STEM_LENGTH, stem, words

SNIPPET_CHARS = 240
# Matches that are looked at; more never change where the words stand thickest by much.
_MAX_PLACES = 2000
# A character with its marks: folding may join or split those, never two of these.
_CLUSTER = regex.compile(r"\X")
_MARK = regex.compile(r"\p{M}")


def matched_words(text: str, query_words: tuple[str, ...]) -> tuple[str, ...]:
    """Query words whose exact form or stem stands in the text, in the query's order."""
    present = {stem(word) for word in words(text)}
    return tuple(word for word in query_words if stem(word) in present)


def snippet(text: str, matched: tuple[str, ...], size: int = SNIPPET_CHARS) -> str:
    """At most ``size`` characters of the text on one line, around the densest run of matched words.

    Cut at spaces where there are some; a cut is shown by an ellipsis.
    """
    line = " ".join(text.replace("\0", "").split())
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
    places = _places(line, stems)
    best, best_count, left = 0, 0, 0
    for right in range(len(places)):
        while places[right][0] - places[left][0] > max(size - 40, 0):
            left += 1
        count = len({part for _, part in places[left : right + 1]})
        if count > best_count:
            best, best_count = places[left][0], count
    return max(0, min(best - min(30, size // 4), len(line) - size))


def _places(line: str, stems: tuple[str, ...]) -> list[tuple[int, str]]:
    """Where stems begin in a line, in order: at words of theirs, else (camelCase, glued scripts) anywhere."""
    folded, origins = _folded(line)
    found: list[tuple[int, str]] = []
    for part in dict.fromkeys(stems):
        anywhere = list(_occurrences(folded, part))
        at = [start for start in anywhere if _is_word(folded, start, part)] or anywhere
        found.extend((origins[start], part) for start in at)
    return sorted(found)[:_MAX_PLACES]


def _occurrences(text: str, part: str) -> Iterator[int]:
    """Starts of a part in a text, none inside another."""
    start = text.find(part)
    while start != -1:
        yield start
        start = text.find(part, start + len(part))


def _is_word(text: str, start: int, stem: str) -> bool:
    """True where a word begins with a stem; a shorter stem is a whole word."""
    if start and _is_part(text[start - 1]):
        return False
    end = start + len(stem)
    return len(stem) >= STEM_LENGTH or end == len(text) or not _is_part(text[end])


def _is_part(character: str) -> bool:
    """True for what words are made of: letters, digits, and the marks on them."""
    return character.isalnum() or (not character.isascii() and _MARK.match(character) is not None)


def _folded(line: str) -> tuple[str, Sequence[int]]:
    """A line folded, and where in the line each of its characters comes from."""
    folded = fold(line)
    # Casefolding alone only lengthens, so that equal lengths are equal places.
    if len(folded) == len(line) and visible(line) == line:
        return folded, range(len(line))
    pieces = [(fold(cluster.group()), cluster.start()) for cluster in _CLUSTER.finditer(line)]
    return "".join(text for text, _ in pieces), [start for text, start in pieces for _ in text]
