"""A card's text in windows: as many whole lines as fit, else the beginning of one, and how to go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogvault_mcp.arguments import ArgumentsFault

if TYPE_CHECKING:
    from cogvault.types import CardText

__all__ = ["Window", "room_for", "window"]

# Tokens of text that an answer has room for; with fewer a client would call again and again.
_LEAST = 16
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a card.

    Attributes:
        text: between markers, with how to go on behind them.
        lines: first and last line of which it has something.
    """

    text: str
    lines: tuple[int, int]


def window(card: CardText, skipped: int, budget_tokens: int) -> Window:
    """The first lines of a card's text that fit.

    Args:
        card: lines of it.
        skipped: characters of the first line to leave out.
        budget_tokens: size of the text at most, markers included.

    Raises:
        ArgumentsFault: the budget has no room for text, or the lines are behind the end.
    """
    from cogvault import clip, fence_text

    first = card.lines[0]
    if first > max(card.total_lines, 1):  # an empty file has no line, and can be read
        raise ArgumentsFault(f"lines: {card.id} has {card.total_lines} lines")
    every = _LINE.findall(card.text) or [""]  # str.splitlines would cut at form feeds and U+2028 as well
    every[0] = every[0][skipped:]
    begin = f"L{first}+{skipped}" if skipped else f"L{first}"
    most = _more(f"Line {card.total_lines} goes on", f"{card.total_lines}+{len(card.text)}")
    room = room_for(fence_text("", f"{card.id}#{begin}-L{card.total_lines}") + most, budget_tokens)
    count = _fitting(every, room)
    last, more = first + max(count, 1) - 1, ""
    text = "".join(every[:count])
    if count == 0:
        # Of blanks and marks alone nothing is kept by clip, and whoever reads on would stay there.
        text = clip(every[0], room).removesuffix("…") or every[0][: _fitting(every[0], room)]
        more = _more(f"Line {first} goes on", f"{first}+{skipped + len(text)}")
    elif last < card.total_lines:
        more = _more(f"Lines {last + 1}-{card.total_lines} follow", f"{last + 1}-{card.total_lines}")
    return Window(fence_text(text, f"{card.id}#{begin}-L{last}") + more, (first, last))


def room_for(around: str, budget_tokens: int) -> int:
    """Tokens of text that fit beside what stands around it.

    Raises:
        ArgumentsFault: too few.
    """
    from cogvault import estimate_tokens

    if (room := budget_tokens - estimate_tokens(around)) < _LEAST:
        raise ArgumentsFault("budget_tokens: it has no room for text of this card, give more")
    return room


def _more(what: str, lines: str) -> str:
    return f"\n\n{what}: call cogvault_read with lines {lines}."


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of these lines, or characters of a text, fit; 0 = not even the first."""
    from cogvault import estimate_tokens

    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens("".join(lines[:middle])) <= room else (low, middle - 1)
    return low
