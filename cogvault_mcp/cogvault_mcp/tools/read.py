"""cogvault_read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from cogvault_mcp.arguments import Arguments, ArgumentsFault
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import NOTICE, Answer, Progress, Tool

if TYPE_CHECKING:
    from cogvault.types import CardText

__all__ = ["READ"]

DEFAULT_BUDGET = 4000
# Tokens of text that an answer has room for; with fewer a client would call again and again.
_LEAST = 16
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LINES = re.compile(r"\s*L?(\d+)\s*(?:\+\s*(\d+)\s*)?(?:[-:,]\s*L?(\d+)\s*)?", re.IGNORECASE)


class ReadArguments(Arguments):
    """What to read."""

    id: str = Field(description="Id or cogvault:// address, as recall gave it")
    lines: str = Field("", description="Such as 10-24; 10+900 starts at character 900 of line 10")
    layer: Literal["L2", "L1", "L0"] = Field("L2", description="L2 text, L1 overview, L0 abstract (folders too)")
    budget_tokens: int = Field(DEFAULT_BUDGET, ge=100, le=32_000, description="Size of the answer at most")


def _read(memory: Memory, arguments: ReadArguments, progress: Progress) -> Answer:
    vault = memory.vault()
    if arguments.layer != "L2":
        if arguments.lines.strip():
            raise ArgumentsFault("lines: only the text itself (layer L2) is read by lines")
        layers = vault.layers(arguments.id)
        text = layers.overview if arguments.layer == "L1" else layers.abstract
        return _layer(arguments, text)
    lines, skipped = _range(arguments.lines)
    card = vault.read(arguments.id, lines)
    return _window(arguments, card, skipped)


def _layer(arguments: ReadArguments, text: str) -> Answer:
    from cogvault import clip, fence_text

    name, layer = arguments.id or "the vault", arguments.layer
    rest = "\n\nThe rest does not fit into budget_tokens."
    room = _room(fence_text("", name, layer=layer) + rest, arguments.budget_tokens)
    told = clip(text, room)
    data = {"id": arguments.id, "layer": layer, "text": told, "notice": NOTICE}
    return Answer(fence_text(told, name, layer=layer) + (rest if told != text else ""), data)


def _window(arguments: ReadArguments, card: CardText, skipped: int) -> Answer:
    """As many whole lines as fit, else the beginning of one; and how to go on."""
    from cogvault import clip, fence_text

    first = card.lines[0]
    if first > card.total_lines:
        raise ArgumentsFault(f"lines: {card.id} has {card.total_lines} lines")
    every = _LINE.findall(card.text) or [""]  # str.splitlines would cut at form feeds and U+2028 as well
    every[0] = every[0][skipped:]
    begin = f"L{first}+{skipped}" if skipped else f"L{first}"
    most = f"\n\nLine {card.total_lines} goes on: call again with lines {card.total_lines}+{len(card.text)}."
    room = _room(fence_text("", f"{card.id}#{begin}-L{card.total_lines}") + most, arguments.budget_tokens)
    count = _fitting(every, room)
    last, more = first + max(count, 1) - 1, ""
    text = "".join(every[:count])
    if count == 0:
        text = clip(every[0], room).removesuffix("…")
        more = f"Line {first} goes on: call again with lines {first}+{skipped + len(text)}."
    elif last < card.total_lines:
        more = f"Lines {last + 1}-{card.total_lines} follow."
    data = {
        "id": card.id,
        "layer": "L2",
        "text": text,
        "lines": [first, last],
        "total_lines": card.total_lines,
        "more": more,
        "notice": NOTICE,
    }
    return Answer(fence_text(text, f"{card.id}#{begin}-L{last}") + (f"\n\n{more}" if more else ""), data)


def _range(lines: str) -> tuple[tuple[int, int] | None, int]:
    """Lines, None = all, and how many characters of the first one to leave out."""
    if not lines.strip():
        return None, 0
    if (match := _LINES.fullmatch(lines)) is None:
        raise ArgumentsFault(f"lines: {lines!r} is no range, write 10-24")
    return (int(match[1]), int(match[3] or match[1])), int(match[2] or 0)


def _room(around: str, budget: int) -> int:
    from cogvault import estimate_tokens

    if (room := budget - estimate_tokens(around)) < _LEAST:
        raise ArgumentsFault(f"budget_tokens: {budget} has no room for text of this card, give more")
    return room


def _fitting(lines: list[str], room: int) -> int:
    """How many of these lines fit; 0 = not even the first."""
    from cogvault import estimate_tokens

    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens("".join(lines[:middle])) <= room else (low, middle - 1)
    return low


READ = Tool(
    name="cogvault_read",
    title="Read a memory",
    description="Read a card in full, some of its lines, or its overview or abstract; the last two of a folder too.",
    arguments=ReadArguments,
    run=_read,
)
