"""cogvault_record."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cogvault_mcp.arguments import Arguments, Pairs, Words
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.tool import Answer, Progress, Tool
from cogvault_mcp.tools.written import written

__all__ = ["RECORD"]


class RecordArguments(Arguments):
    """What to remember."""

    content: str = Field(description="Markdown: what, why, when, names; one fact or decision a card")
    title: str = Field("", description="Short and findable")
    type: str = Field("", description="user, feedback, project, reference, or any word")
    tags: Words = Field([], description="Words to filter by")
    description: str = Field("", description="One sentence that says it all")
    to: str = Field("", description="Folder or cogvault:// address, such as cogvault://user/ana/preferences")
    meta: Pairs = Field({}, description="More frontmatter, such as importance or valid_until")
    redact: bool = Field(False, description="Mask what looks like a secret")


def _record(memory: Memory, arguments: RecordArguments, progress: Progress) -> Answer:
    options: dict[str, Any] = {
        "title": arguments.title or None,
        "type": arguments.type or None,
        "tags": arguments.tags,
        "description": arguments.description or None,
        "to": arguments.to or None,
        "meta": arguments.meta or None,
        "redact": arguments.redact,
    }
    return written(memory.vault().record(arguments.content, **options), memory.told)


RECORD = Tool(
    name="cogvault_record",
    title="Remember",
    description=(
        "Write one memory as a Markdown card: a decision and its reason, a fix, a preference, a fact that will be "
        "needed again. The same text is stored once; cards that say nearly the same are named, to revise instead."
    ),
    arguments=RecordArguments,
    run=_record,
    is_read_only=False,
)
