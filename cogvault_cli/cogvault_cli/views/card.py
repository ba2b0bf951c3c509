"""One card for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, put

if TYPE_CHECKING:
    from cogvault import CardText


def print_card(console: Console, card: CardText) -> None:
    """Rendered Markdown when the whole card is shown, the lines as they stand when it is a part."""
    first, last = card.lines
    whole = (first, last) == (1, card.total_lines)
    put(console, (printable(card.id), "cyan"), (f"  lines {first}-{last} of {card.total_lines}", DIM))
    text = printable(card.text)
    if not whole:
        put(console, text.rstrip("\n"))
        return
    head, body = split_frontmatter(text)
    if head:
        console.print(Text(head.rstrip("\n"), DIM))
    console.print()
    console.print(Markdown(body))


def split_frontmatter(text: str) -> tuple[str, str]:
    """The lines between the fences at the top of a card, and what follows them; "" and all when there are none.

    >>> split_frontmatter("---\\nname: a\\n---\\nText")
    ('name: a\\n', 'Text')
    """
    lines = text.splitlines(keepends=True)
    if lines and lines[0].rstrip() == "---":
        for place, line in enumerate(lines[1:], start=1):
            if line.rstrip() == "---":
                return "".join(lines[1:place]), "".join(lines[place + 1 :])
    return "", text
