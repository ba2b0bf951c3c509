"""What was said in a transcript of Claude Code. Pure.

Its format is not specified, so only what has long been stable is read: lines of type ``user`` and ``assistant`` with a
message in the shape of Anthropic's API. Lines that are anything else count as nothing said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from cogvault.types import Turn

__all__ = ["ANCHOR", "MAX_CHARS", "said"]

# Key of a turn's metadata: the transcript's id of the message, by which it is found there and recognized here.
ANCHOR = "uuid"
# Characters of a turn at most.
MAX_CHARS = 200_000
_SPEAKERS = {"user": "User", "assistant": "Claude"}
# Not said by anybody: put in by the program, by a subagent, or a summary of what was said.
_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary")
_MARKUP = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
)


def said(lines: Iterable[bytes], max_chars: int = MAX_CHARS) -> Iterator[Turn]:
    """Turns of some lines, in order: text of the user and of the agent, without thinking, tools and their results.

    Args:
        lines: of the transcript.
        max_chars: a longer text is kept in several turns.
    """
    for line in lines:
        record = _record(line)
        speaker = _SPEAKERS.get(str(record.get("type")))
        anchor = record.get("uuid")
        if speaker is None or not isinstance(anchor, str) or any(record.get(flag) for flag in _NOT_SAID):
            continue
        text = _text(record.get("message"))
        if not text.strip() or text.lstrip().startswith(_MARKUP):
            continue
        for number, start in enumerate(range(0, len(text), max_chars)):
            mark = f"{anchor}#{number + 1}" if number else anchor
            yield Turn(speaker, text[start : start + max_chars], _moment(record.get("timestamp")), {ANCHOR: mark})


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _text(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "text")
    return "\n\n".join(text for block in blocks if isinstance(text := block.get("text"), str) and text.strip())


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
