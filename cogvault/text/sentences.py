"""Where sentences end, in any script, by rule. Pure, linear in the text."""

from __future__ import annotations

from itertools import pairwise

import regex

_CLOSERS = r"[\"'”’»›)\]]*+"
_DENSE_CLOSERS = r"[」』”’）)】》\]]*+"
_MARKS = ".!?…؟۔։።"
# Marks that end a sentence only before a blank; marks that end one anywhere; a blank line. A run of marks is tried
# once, from its start: from each of its marks would take the square of its length.
_END = regex.compile(
    rf"(?<![{_MARKS}])(?P<spaced>[{_MARKS}]++){_CLOSERS}(?:\s++|\Z)|[。！？｡।॥။។]++{_DENSE_CLOSERS}\s*+|\n[ \t]*+\n\s*+"
)
_LAST_END = regex.compile(rf"[{_MARKS}。！？｡।॥။។](?:{_CLOSERS}|{_DENSE_CLOSERS})\s*\Z")
_LAST_WORD = regex.compile(r"[\p{L}\p{M}\p{N}.]*\Z")
# Words whose full stop does not end a sentence. Those that often end one ("etc.", "usw.") are left to the next letter.
_ABBREVIATION = regex.compile(
    r"mrs?|ms|dr|prof|st|vs|e\.g|i\.e|fig|no|vol|pp|approx|jr|sr|dept"  # English
    r"|z\.b|bzw|d\.h|u\.a|ca|nr|str|abb|vgl|hr|fr"  # German
    r"|г|м|ім|вул|напр|див|стор|ул|им|см|рис|т\.е|т\.є"  # Ukrainian, Russian
    r"|mme|mlle|srta|sra|av|cf"  # French, Spanish
)


def sentence_starts(text: str) -> list[int]:
    """Offsets at which the sentences after the first begin; blanks and closing quotes stay with the sentence before.

    >>> sentence_starts("One. Two e.g. three.")
    [5]
    """
    starts: list[int] = []
    for match in _END.finditer(text):
        end = match.end()
        if end < len(text) and not (match["spaced"] and _continues(text, match.start(), match["spaced"], end)):
            starts.append(end)
    return starts


def sentences(text: str) -> list[str]:
    """Sentences of a text in order, without the blanks around them.

    >>> sentences("Dr. Ana wrote it. 我们决定了。好的！ Was it 3.5?")
    ['Dr. Ana wrote it.', '我们决定了。', '好的！', 'Was it 3.5?']
    """
    return [stripped for piece in sentence_pieces(text) if (stripped := piece.strip())]


def sentence_pieces(text: str) -> list[str]:
    """The text cut where sentences begin; joined, the pieces are the text."""
    cuts = [0, *sentence_starts(text), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if start < end]


def ends_sentence(text: str) -> bool:
    """True when a text stops where a sentence does."""
    return _LAST_END.search(text[-40:]) is not None


def _continues(text: str, mark: int, marks: str, end: int) -> bool:
    """True when a full stop ends no sentence: a small letter follows, or an abbreviation or initial precedes."""
    if marks[0] not in ".…":
        return False
    if text[end].islower():
        return True
    if marks != ".":
        return False
    word = _LAST_WORD.search(text, max(0, mark - 24), mark)
    last = word.group() if word else ""
    if _ABBREVIATION.fullmatch(last.casefold()) or (len(last) == 1 and last.isupper()):
        return True
    return last.isdecimal() and _begins_line(text, mark - len(last))


def _begins_line(text: str, position: int) -> bool:
    """True when at most a few blanks stand before ``position`` on its line, as before the number of a list item."""
    before = text[max(0, position - 8) : position].rstrip(" \t")
    return before.endswith("\n") or (not before and position <= 8)
