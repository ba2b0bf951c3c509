"""Text as it is compared: one folding for titles, tags, queries and card text, in every script."""

from __future__ import annotations

import unicodedata

import regex

# Characters that split or hide inside words without being seen: soft hyphen, zero-width space and joiners,
# directional marks, word joiner, BOM, variation selectors. Dropped, so that "pass<U+200B>word" is "password".
_INVISIBLE = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF),
        *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10)),
    ]
)
# Normalizing sorts the marks of a letter, which takes the square of their number. No language has so many; what comes
# after them is dropped, as UAX #15 (stream-safe text) would cut there.
_MAX_MARKS = 30
_TOO_MANY_MARKS = regex.compile(rf"(?<=\p{{M}}{{{_MAX_MARKS}}})\p{{M}}++")


def visible(text: str) -> str:
    """NFKC without invisible characters; case kept, combining marks with their base letter, at most 30 of them."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _few_marks(text.translate(_INVISIBLE)))


def fold(text: str) -> str:
    """Text for comparison: ``visible`` and casefolded. Folding twice changes nothing."""
    if text.isascii():
        return text.lower()
    folded = visible(text).casefold()
    while (again := visible(folded).casefold()) != folded:
        folded = again
    return folded


def nfc(text: str) -> str:
    """Canonical composition, for ids and link targets."""
    return unicodedata.normalize("NFC", text if text.isascii() else _few_marks(text))


def _few_marks(text: str) -> str:
    return _TOO_MANY_MARKS.sub("", text) if len(text) > _MAX_MARKS else text
