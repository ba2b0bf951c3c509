"""A cheap upper bound of a text's length in tokens."""

from __future__ import annotations

import unicodedata

# Normalizing sorts combining marks in the square of their number. Decomposition looks at one code point at a time, so
# that the parts of a text are together as long as the whole.
_PART_CHARS = 256


def estimate_tokens(text: str) -> int:
    """An upper bound of the text's length in tokens of a multilingual-e5 model.

    A caller whose budget is above it need not count. It never underestimates, by construction: a
    unigram token covers at least one character of the normalized text, in which each space stands
    for the word mark that may be a token of its own, plus the one put before the text. Normalization
    replaces single code points, and no replacement is longer than the code point's compatibility
    decomposition (NFKD); a text that is in NFKC already has nothing that would grow.

    Args:
        text: Any text.

    Returns:
        At least the number of tokens, without prefix and special tokens; 0 for a blank text.
    """
    if not text or text.isspace():
        return 0
    if text.isascii():
        return len(text) + 1
    parts = [text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS)]
    if all(unicodedata.is_normalized("NFKC", part) for part in parts):
        return len(text) + 1
    return sum(len(unicodedata.normalize("NFKD", part)) for part in parts) + 1
