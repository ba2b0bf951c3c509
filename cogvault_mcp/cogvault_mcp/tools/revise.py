"""cogvault_revise."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cogvault_mcp.arguments import Arguments, ArgumentsFault, Card, Pairs, Words
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import Answer, Progress, Tool
from cogvault_mcp.tools.written import written

__all__ = ["REVISE"]


class ReviseArguments(Arguments):
    """What to change."""

    action: Literal["update", "supersede", "move", "forget", "restore"] = Field(
        description="supersede: id is outdated, new says what holds now; forget: archive, restore: take back"
    )
    id: Card = Field(description="Id or cogvault:// address of the card")
    new: Card = Field("", description="supersede: id of the card that holds now; move: new path")
    body: str | None = Field(None, description="update: new body (no frontmatter) or section text")
    section: str = Field("", description="update: heading of the section to replace or extend")
    append: str | None = Field(None, description="update: text for the end")
    set: Pairs = Field({}, description="update: frontmatter to set")
    unset: Words = Field([], description="update: keys to remove")
    redact: bool = Field(False, description="update: mask secrets")
    base_hash: str = Field("", description="update: refuse if the card changed since")


def _revise(memory: Memory, arguments: ReviseArguments, progress: Progress) -> Answer:
    vault = memory.vault()
    if arguments.action in ("supersede", "move") and not arguments.new:
        raise ArgumentsFault(f"new: {arguments.action} needs it")
    if arguments.action == "supersede":
        return written(vault.supersede(arguments.id, arguments.new), memory.told)
    if arguments.action == "move":
        return written(vault.move(arguments.id, arguments.new), memory.told)
    if arguments.action == "forget":
        return written(vault.forget(arguments.id), memory.told)
    if arguments.action == "restore":
        return written(vault.restore(arguments.id), memory.told)
    changes: dict[str, Any] = {
        "body": arguments.body,
        "section": arguments.section or None,
        "append": arguments.append,
        "set": arguments.set or None,
        "unset": arguments.unset,
        "base_hash": arguments.base_hash or None,
        "redact": arguments.redact,
    }
    return written(vault.update(arguments.id, **changes), memory.told)


REVISE = Tool(
    name="cogvault_revise",
    title="Correct memory",
    description=(
        "Change what is remembered: update a card, mark it superseded by a newer one, move it, forget (archive) or "
        "restore it. Prefer supersede when a fact changed, so that its history stays."
    ),
    arguments=ReviseArguments,
    run=_revise,
    is_read_only=False,
    is_destructive=True,
    is_idempotent=False,
)
