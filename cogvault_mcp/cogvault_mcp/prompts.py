"""The ``remember`` prompt."""

from __future__ import annotations

import mcp_types as types

__all__ = ["PROMPT", "remember"]

PROMPT = types.Prompt(
    name="remember",
    title="Remember this",
    description="Write what matters of this conversation into memory.",
    arguments=[types.PromptArgument(name="what", description="What to remember; empty: decide yourself")],
)

_TEXT = """\
Write what is worth keeping into memory with cogvault_record{what}.

- One card for each decision, fix, preference or fact; say what, why, when, and who.
- First call cogvault_recall with the topic. If a card says it already, leave it. If a card says \
what no longer holds, record the new fact and call cogvault_revise with action supersede.
- Give each card a title somebody would search for, a description of one sentence, and a type: user, feedback, \
project or reference.
- Never record passwords, keys or tokens.
- Then say in one line each what you recorded."""


def remember(what: str) -> types.GetPromptResult:
    """The prompt, about something or about all of the conversation."""
    topic = f": {what.strip()}" if what.strip() else ", from this conversation"
    text = types.TextContent(type="text", text=_TEXT.format(what=topic))
    return types.GetPromptResult(
        description=PROMPT.description, messages=[types.PromptMessage(role="user", content=text)]
    )
