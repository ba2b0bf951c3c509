"""cogvault_browse."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cogvault_mcp.arguments import Arguments
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import NOTICE, Answer, Progress, Tool

__all__ = ["BROWSE"]

MAX_LIMIT = 200


class BrowseArguments(Arguments):
    """What to look at."""

    path: str = Field("", description="Folder or cogvault:// prefix; empty is the whole vault")
    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="Cards at most")
    after_id: str = Field("", description="Go on after this card")
    sync: bool = Field(False, description="Look for changed files first, and wait")


def _browse(memory: Memory, arguments: BrowseArguments, progress: Progress) -> Answer:
    from cogvault import fence_text

    vault = memory.vault()
    if arguments.sync:
        vault.sync(progress=lambda step: progress(step.done, step.total, step.stage))
    cards = [card for card in vault.list(arguments.path) if card.id > arguments.after_id]
    status = vault.status()  # after the list, which may have had to wait for the first index
    page = cards[: arguments.limit]
    rows: list[dict[str, Any]] = [
        {
            "id": card.id,
            "uri": card.uri,
            "title": card.title,
            "type": card.type or "",
            "date": card.dated.date().isoformat(),
            "valid": card.valid,
            "review_due": card.review_due,
        }
        for card in page
    ]
    lines = [f"{status.cards} cards, status {status.status.value}" + (f": {status.reason}" if status.reason else "")]
    if rows:
        lines.append(fence_text("\n".join(map(_line, rows)), arguments.path or "the vault"))
    next_id = page[-1].id if len(cards) > len(page) else ""
    if next_id:
        lines.append(f"{len(cards) - len(page)} more: call again with after_id {next_id}")
    data = {
        "status": status.status.value,
        "reason": status.reason,
        "cards": status.cards,
        "pending": status.pending,
        "items": rows,
        "next": next_id,
        "notice": NOTICE,
    }
    return Answer("\n".join(lines), data)


def _line(row: dict[str, Any]) -> str:
    label = "" if row["valid"] == "current" else f", {row['valid']}"
    label += ", review due" if row["review_due"] else ""
    return f"- {row['id']}  {row['title']}  ({row['date']}{label})"


BROWSE = Tool(
    name="cogvault_browse",
    title="Browse memory",
    description="List cards below a folder or address, and how well the memory is.",
    arguments=BrowseArguments,
    run=_browse,
)
