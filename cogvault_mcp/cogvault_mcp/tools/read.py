"""cogvault_read."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from cogvault_mcp.arguments import Arguments, ArgumentsFault, Card
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import DEFAULT_BUDGET, LEAST_BUDGET, Answer, Progress, Tool, within
from cogvault_mcp.window import room_for, window

__all__ = ["READ"]

# No card has a line of more than nine digits, and Python reads no number of some thousand.
_LINES = re.compile(r"\s*L?(\d{1,9})\s*(?:\+\s*(\d{1,9})\s*)?(?:[-:,]\s*L?(\d{1,9})\s*)?", re.IGNORECASE)


class ReadArguments(Arguments):
    """What to read."""

    id: Card = Field(description="Id or cogvault:// address, as recall gave it")
    lines: str = Field("", description="Such as 10-24; 10+900 starts at character 900 of line 10")
    layer: Literal["L2", "L1", "L0"] = Field("L2", description="L2 text, L1 overview, L0 abstract (folders too)")
    budget_tokens: int = Field(DEFAULT_BUDGET, ge=LEAST_BUDGET, le=32_000, description="Size of the answer at most")


def _read(memory: Memory, arguments: ReadArguments, progress: Progress) -> Answer:
    vault = memory.vault()
    if arguments.layer != "L2":
        if arguments.lines.strip():
            raise ArgumentsFault("lines: only the text itself (layer L2) is read by lines")
        layers = vault.layers(arguments.id)
        text = layers.overview if arguments.layer == "L1" else layers.abstract
        return within(arguments.budget_tokens, lambda room: _layer(arguments, text, room))
    lines, skipped = _range(arguments.lines)
    card = vault.read(arguments.id, lines)

    def told(room: int) -> Answer:
        part = window(card, skipped, room)
        return Answer(part.text, fields={"id": card.id, "lines": list(part.lines), "total_lines": card.total_lines})

    return within(arguments.budget_tokens, told)


def _layer(arguments: ReadArguments, text: str, room: int) -> Answer:
    from cogvault import clip, fence_text

    name, layer = arguments.id or "the vault", arguments.layer
    rest = "\n\nThe rest does not fit into budget_tokens."
    told = clip(text, room_for(fence_text("", name, layer=layer) + rest, room))
    shown = fence_text(told, name, layer=layer) + (rest if told != text else "")
    return Answer(shown, fields={"id": arguments.id, "layer": layer})


def _range(lines: str) -> tuple[tuple[int, int] | None, int]:
    """Lines, None = all, and how many characters of the first one to leave out."""
    if not lines.strip():
        return None, 0
    if (match := _LINES.fullmatch(lines)) is None:
        raise ArgumentsFault(f"lines: {lines!r} is no range, write 10-24")
    return (int(match[1]), int(match[3] or match[1])), int(match[2] or 0)


READ = Tool(
    name="cogvault_read",
    title="Read a memory",
    description="Read a card in full, some of its lines, or its overview or abstract; the last two of a folder too.",
    arguments=ReadArguments,
    run=_read,
)
