"""Who and what a text names, found by rule: no dictionary, no model. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

import regex

from cogvault.layers.words import CALENDAR_WORDS

# Text with more capitals than this inside its sentences is German: there a single capitalized word is just a noun.
_NOUN_CAPITALS = 0.15
MAX_NAME_CHARS = 60

# Mara Lind, PostgreSQL, POL-358: up to four words with capitals in a row. The first letter's class is a superset of the
# capitals of Latin, Greek, Cyrillic and Armenian, and what stands before is looked at afterwards: a pattern that
# starts with a plain class is searched for several times faster than one with properties or a look behind.
_FIRST = r"[A-ZÀ-ÞĀ-ɏͰ-ΫЀ-ЯѠ-ԯԱ-Ֆ]"
_CAPITALIZED = rf"{_FIRST}[^\W_]+(?:[’'\-][^\W_]+)*"
_CAPITALS = re.compile(rf"{_CAPITALIZED}(?: {_CAPITALIZED}){{0,3}}")
_NOT_BEFORE = frozenset("_@'’")
# A word after at most this many characters, none of them a letter, starts its sentence.
_MARKS = 8

_CODE = re.compile(r"`([^`\n]+)`")
_HANDLE = re.compile(r"@\w[\w-]+")
# The inside of getUserName and of svc_payments; apart, because an alternation is searched for at every character.
_CAMEL = re.compile(r"[a-z][A-Z]")
_SNAKE = re.compile(r"_(?=[^\W_])")
_WORD = re.compile(r"\w+")
_QUOTED = regex.compile(
    r"[「『《](?P<name>[^「」『』《》\n]{1,30})[」』》]|“(?P<name>[^“”\p{Han}\n]{0,30}\p{Han}[^“”\n]{0,30})”"
)


def find_names(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """Names in each sentence: runs of capitalized words, identifiers, handles, names between CJK quotes.

    A capitalized word that starts the sentence is none.

    >>> find_names(["Then Mara Lind moved svc_payments for @wei."])
    [('Mara Lind', 'svc_payments', '@wei')]
    """
    # All sentences are searched at once, which costs a third of searching them one by one; no name crosses a line.
    text = "\n".join(sentences)
    ends = list(accumulate(len(sentence) + 1 for sentence in sentences))
    found: list[list[str]] = [[] for _ in sentences]
    for start, name in _places(text):
        if 1 < len(stripped := name.strip()) <= MAX_NAME_CHARS:
            found[bisect_right(ends, start)].append(stripped)
    return [tuple(names) for names in found]


def _places(text: str) -> list[tuple[int, str]]:
    """Names in some lines of text, with their offsets."""
    found: list[tuple[int, str]] = []
    if "`" in text:
        found = [(match.start(), match[1]) for match in _CODE.finditer(text)]
        text = _CODE.sub(lambda match: "`" * len(match[0]), text)
    for match in _CAPITALS.finditer(text):
        start, name = match.start(), match.group()
        if " " not in name and (start == 0 or text[start - 1] == "\n"):
            continue  # the most frequent case by far: a sentence starts
        before = text[max(0, start - _MARKS) : start].rpartition("\n")[2]
        if len(before) < min(_MARKS, start + 1) and not any(map(str.isalpha, before)):
            # Nothing but marks since the line began: the first word of its sentence.
            name = name.partition(" ")[2]
        elif before[-1].isalnum() or before[-1] in _NOT_BEFORE:
            continue
        if name and text[match.end() : match.end() + 1] != "_":
            found.append((start, _clean(name)))
    found += _identifiers(text)
    if "@" in text:
        found += [(match.start(), match.group()) for match in _HANDLE.finditer(text) if _starts(text, match.start())]
    if not text.isascii():
        found += [(match.start(), match["name"]) for match in _QUOTED.finditer(text)]
    return found


def _starts(text: str, position: int) -> bool:
    """True when no word ends at a position."""
    return not text[position - 1 : position].isalnum()


def _identifiers(text: str) -> list[tuple[int, str]]:
    """Words in snake_case or camelCase; capitalized ones are found with the capitals."""
    found: list[tuple[int, str]] = []
    end = 0
    joints = [match.start() for match in _CAMEL.finditer(text)]
    if "_" in text:
        joints = sorted(joints + [match.start() for match in _SNAKE.finditer(text)])
    for joint in joints:
        if joint < end:
            continue
        start = joint
        while start > end and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        word = _WORD.match(text, start)
        if word is not None:
            end = word.end()
            name = word.group().strip("_")
            if "_" in name or (name and not name[0].isupper()):
                found.append((start, name))
    return found


def _clean(name: str) -> str:
    """A run of words without those that only look like names: months, weekdays, small letters of the class above."""
    return " ".join(word for word in name.split(" ") if word[0].isupper() and word.casefold() not in CALENDAR_WORDS)


def rank_names(sentences: Iterable[tuple[str, ...]], words: int, known: Iterable[str] = ()) -> tuple[str, ...]:
    """Names of a text, most frequent first, then in reading order.

    Args:
        sentences: names of each sentence.
        words: words in all of them, to tell text that capitalizes every noun.
        known: names to put first, whatever the text says: speakers.
    """
    count = Counter(name for names in sentences for name in names)
    plain = [name for name in count if not _is_marked(name)]
    if sum(count[name] for name in plain) > _NOUN_CAPITALS * max(1, words):
        for name in plain:
            del count[name]
    first = dict.fromkeys(known)
    return (*first, *(name for name, _ in count.most_common() if name not in first))


def _is_marked(name: str) -> bool:
    """True for a name that is more than one capitalized word."""
    return " " in name or not name[0].isupper() or not name[1:].islower()
