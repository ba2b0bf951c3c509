"""cogvault_browse."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from cogvault_mcp.arguments import Arguments
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import DEFAULT_BUDGET, Answer, Progress, Tool

if TYPE_CHECKING:
    from cogvault.types import ListedCard, VaultStatus

__all__ = ["BROWSE"]

MAX_LIMIT = 200
_TITLE_TOKENS = 50
_REASON_TOKENS = 200


class BrowseArguments(Arguments):
    """What to look at."""

    path: str = Field("", description="Folder or cogvault:// prefix; empty is the whole vault")
    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="Cards at most")
    after_id: str = Field("", description="Go on after this card")
    sync: bool = Field(False, description="Look for changed files first, and wait")


def _browse(memory: Memory, arguments: BrowseArguments, progress: Progress) -> Answer:
    vault = memory.vault()
    if arguments.sync:
        vault.sync(progress=lambda step: progress(step.done, step.total, step.stage))
    # One more tells whether there are others.
    cards = vault.list(arguments.path, after=arguments.after_id, limit=arguments.limit + 1)
    status = vault.status()  # after the list, which may have had to wait for the first index
    reason = memory.told(status.reason)
    page = cards[: arguments.limit]
    empty = "No card is there." if arguments.path or arguments.after_id else ""

    def first(count: int) -> Answer:
        return _answer(status, reason, page[:count], "" if page else empty, has_more=len(cards) > count)

    fitting = bisect(range(1, len(page) + 1), DEFAULT_BUDGET, key=lambda count: first(count).tokens())
    return first(max(fitting, min(len(page), 1)))


def _answer(status: VaultStatus, reason: str, page: Sequence[ListedCard], empty: str, *, has_more: bool) -> Answer:
    from cogvault import clip, fence_text

    why = f": {clip(reason, _REASON_TOKENS)}" if reason else ""
    lines = [f"{status.cards} cards, status {status.status.value}{why}"]
    if page:
        lines.append(fence_text("\n".join(map(_line, page)), "the vault"))
    if empty:
        lines.append(empty)
    next_id = page[-1].id if page and has_more else ""
    if next_id:
        lines.append("There are more: call again with after_id set to the last of these.")
    fields = {"cards": status.cards, "pending": status.pending, "ids": [card.id for card in page], "next": next_id}
    return Answer("\n".join(lines), status.status.value, fields)


def _line(card: ListedCard) -> str:
    from cogvault import clip

    label = "" if card.valid == "current" else f", {card.valid}"
    label += ", review due" if card.review_due else ""
    return f"- {card.id}  {clip(card.title, _TITLE_TOKENS)}  ({card.dated.date().isoformat()}{label})"


BROWSE = Tool(
    name="cogvault_browse",
    title="Browse memory",
    description="List cards below a folder or address, and how well the memory is.",
    arguments=BrowseArguments,
    run=_browse,
)
