"""How long a text may be for a model, and cutting texts to it. Pure, given pure counters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cogvault.layers.tokens import estimate_tokens as typical_tokens

_JOINER = "\u200d"
# A text that typically has this many times the limit is over it; counting it exactly would only cost time.
_SURE_EXCESS = 4
_CHARS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Limits of a chunk in a model's tokens.

    Attributes:
        max_tokens: what the model reads of one text, without prefix and special tokens; at least 16.
        count: exact lengths of texts; called only for texts that ``bound`` does not clear.
        bound: cheap upper bound of a text's length.
        target_tokens: small neighbors are joined up to this typical length (``layers.tokens.estimate_tokens``).

    Raises:
        ValueError: a limit is too small.
    """

    max_tokens: int
    count: Callable[[Sequence[str]], list[int]]
    bound: Callable[[str], int]
    target_tokens: int = 200

    def __post_init__(self) -> None:
        if self.max_tokens < 16 or self.target_tokens < 1:
            raise ValueError(f"a chunk needs at least 16 tokens, not {self.max_tokens} (target {self.target_tokens})")

    def fits(self, text: str, limit: int) -> bool:
        """True when a text has at most ``limit`` tokens."""
        if self.bound(text) <= limit:
            return True
        return typical_tokens(text) <= _SURE_EXCESS * limit and self.count([text])[0] <= limit

    def runs(self, text: str, limit: int) -> Iterator[str]:
        """The text in pieces of at most ``limit`` tokens cut at blanks, else between characters."""
        start = 0
        while start < len(text):
            end = min(len(text), start + _CHARS_PER_TOKEN * limit)
            while end - start > 1 and not self.fits(text[start:end], limit):
                end = start + (end - start) * 2 // 3
            if end < len(text):
                end = _cut(text, start, end)
            yield text[start:end]
            start = end

    def clip(self, text: str, limit: int) -> str:
        """The beginning of a text, at most ``limit`` tokens."""
        return text if self.fits(text, limit) else next(self.runs(text, limit), "").rstrip()


def _cut(text: str, start: int, end: int) -> int:
    """The best place to cut at or before ``end``: after a blank in its second half, else between two characters."""
    blank = max(text.rfind(" ", start + (end - start) // 2, end), text.rfind("\t", start + (end - start) // 2, end))
    if blank > start:
        return blank + 1
    for place in range(end, max(start, end - 32), -1):
        joined = text[place] == _JOINER or text[place - 1] == _JOINER or unicodedata.category(text[place])[0] == "M"
        if not joined:
            return place
    return end
