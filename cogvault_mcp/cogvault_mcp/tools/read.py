"""cogvault_read."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from cogvault_mcp.arguments import Arguments, ArgumentsFault
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import Answer, Progress, Tool

__all__ = ["READ"]

DEFAULT_BUDGET = 4000
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LINES = re.compile(r"\s*L?(\d+)\s*(?:[-:,]\s*L?(\d+)\s*)?", re.IGNORECASE)


class ReadArguments(Arguments):
    """What to read."""

    id: str = Field(description="Id or cogvault:// address, as recall gave it")
    lines: str = Field("", description="Such as 10-24")
    layer: Literal["L2", "L1", "L0"] = Field("L2", description="L2 text, L1 overview, L0 abstract (folders too)")
    budget_tokens: int = Field(DEFAULT_BUDGET, ge=100, le=32_000, description="Size of the answer at most")


def _read(memory: Memory, arguments: ReadArguments, progress: Progress) -> Answer:
    from cogvault import fence_text

    vault = memory.vault()
    if arguments.layer != "L2":
        layers = vault.layers(arguments.id)
        text = layers.overview if arguments.layer == "L1" else layers.abstract
        data: dict[str, Any] = {"id": arguments.id, "layer": arguments.layer, "text": text}
        return Answer(fence_text(text, arguments.id, layer=arguments.layer), data)
    card = vault.read(arguments.id, _range(arguments.lines))
    text, last = _within(card.text, card.lines, arguments.budget_tokens - 100)
    more = f"\n\nLines {last + 1}-{card.total_lines} follow." if last < card.total_lines else ""
    data = {"id": card.id, "layer": "L2", "text": text, "lines": [card.lines[0], last], "total_lines": card.total_lines}
    return Answer(fence_text(text, f"{card.id}#L{card.lines[0]}-L{last}") + more, data)


def _range(lines: str) -> tuple[int, int] | None:
    if not lines.strip():
        return None
    if (match := _LINES.fullmatch(lines)) is None:
        raise ArgumentsFault(f"lines: {lines!r} is no range, write 10-24")
    return int(match[1]), int(match[2] or match[1])


def _within(text: str, lines: tuple[int, int], budget: int) -> tuple[str, int]:
    """As many whole lines as fit, at least the beginning of one; and the number of the last."""
    from cogvault import clip, estimate_tokens

    every = _LINE.findall(text) or [""]  # str.splitlines would cut at form feeds and U+2028 as well
    low, high = 1, len(every)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens("".join(every[:middle])) <= budget else (low, middle - 1)
    kept = "".join(every[:low])
    if low == 1:  # one line may be longer than all that may be told
        kept = clip(kept, budget)
    return kept, min(lines[0] + low - 1, lines[1])


READ = Tool(
    name="cogvault_read",
    title="Read a memory",
    description="Read a card in full, some of its lines, or its overview or abstract; the last two of a folder too.",
    arguments=ReadArguments,
    run=_read,
)
