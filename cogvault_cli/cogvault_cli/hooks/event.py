"""Events of Claude Code, as they come on standard input. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["EVENTS", "MAX_EVENT_BYTES", "Event", "answer", "parse", "vault_folder"]

MAX_EVENT_BYTES = 16 << 20
# Name on the command line, and in Claude Code.
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}


class Event(NamedTuple):  # dataclasses take longer to import than all else here
    """One event.

    Attributes:
        name: as on the command line.
        session: Claude Code's id of the session.
        folder: where the agent works.
        prompt: what the user wrote (prompt).
        source: ``startup``, ``resume``, ``clear`` or ``compact`` (session-start).
        transcript: the session's file, one JSON object a line; "" = none.
    """

    name: str
    session: str
    folder: str = ""
    prompt: str = ""
    source: str = ""
    transcript: str = ""


def parse(name: str, data: bytes) -> Event:
    """An event from its JSON. Keys that nobody needs are left out, whatever they hold.

    Raises:
        ValueError: it is too large, no JSON object, or names no session.
    """
    if len(data) > MAX_EVENT_BYTES:
        raise ValueError(f"the event has more than {MAX_EVENT_BYTES} bytes")
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise ValueError("the event is nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("the event is no JSON object")
    wanted = ("session_id", "cwd", "prompt", "source", "transcript_path")
    texts = [value if isinstance(value := document.get(key), str) else "" for key in wanted]
    if not texts[0]:
        raise ValueError("the event names no session")
    return Event(name, *texts)


def vault_folder(event: Event, environment: Mapping[str, str]) -> Path | None:
    """The folder that ``COGVAULT_TENANT`` names; a relative one is looked for in the project. None = no vault."""
    named = environment.get("COGVAULT_TENANT", "").strip()
    if not named:
        return None
    project = environment.get("CLAUDE_PROJECT_DIR") or event.folder or "."
    return Path(project) / Path(named).expanduser()


def answer(name: str, text: str, warning: str = "") -> str:
    """Text for the agent, and one for its user, as Claude Code takes them: one line of ASCII JSON, whatever the locale
    is; "" = none."""
    document: dict[str, object] = {}
    if text:
        document["hookSpecificOutput"] = {"hookEventName": EVENTS[name], "additionalContext": text}
    if warning:
        document["systemMessage"] = warning
    return json.dumps(document)
