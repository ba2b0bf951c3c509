"""A cheap upper bound of a text's length in tokens."""

from __future__ import annotations

import unicodedata


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
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return len(text) + 1
    return len(unicodedata.normalize("NFKD", text)) + 1
