"""How long a text is for a model, when no tokenizer is at hand. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

CHARS_PER_TOKEN = 4
ELLIPSIS = "…"

# Scripts written without spaces (and Hangul), their punctuation and full-width forms: one token a character.
DENSE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3000-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
_DENSE = re.compile(rf"[{DENSE}]")
# No tokenizer packs more characters into a token of running text; longer texts need no exact count to be too long.
_MAX_CHARS_PER_TOKEN = 16
# How far back a cut looks for the end of a word.
_MAX_WORD = 40


def estimate_tokens(text: str) -> int:
    """Length of a text in tokens, estimated: one for every four characters, one for each character of a dense script.

    Splitting a text never makes the sum smaller.

    >>> estimate_tokens("four"), estimate_tokens("fives"), estimate_tokens("设备清单 ok")
    (1, 2, 5)
    """
    dense = 0 if text.isascii() else len(text) - len(_DENSE.sub("", text))
    return dense + -(-(len(text) - dense) // CHARS_PER_TOKEN)


def clip(text: str, limit: int, estimate: Callable[[str], int] = estimate_tokens) -> str:
    """A text, or its longest beginning with ``…`` that has at most ``limit`` tokens, cut between words if possible.

    ``""`` when not even one character fits.

    >>> clip("one two three four", 3)
    'one two…'
    """
    if len(text) <= limit * _MAX_CHARS_PER_TOKEN and estimate(text) <= limit:
        return text
    low, high = 0, min(len(text), max(limit, 0) * _MAX_CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[:middle] + ELLIPSIS) <= limit:
            low = middle
        else:
            high = middle - 1
    while 0 < low < len(text) and unicodedata.category(text[low]).startswith("M"):
        low -= 1
    if low < len(text) and not text[low].isspace():
        space = max(text.rfind(" ", max(low - _MAX_WORD, 1), low), text.rfind("\n", max(low - _MAX_WORD, 1), low))
        low = space if space > 0 else low
    kept = text[:low].rstrip()
    return kept + ELLIPSIS if kept else ""
