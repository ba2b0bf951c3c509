"""What the daemon has to tell about an event, by one request.

Only what that request needs is imported: an agent waits for it with every prompt.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from cogvault import __version__
from cogvault.client.connection import Connection, NobodyListens
from cogvault.client.endpoint import endpoints
from cogvault_cli.hooks.event import Event
from cogvault_cli.hooks.state import StateFile, hooks_folder

__all__ = ["ask"]

# Where the agent's context begins anew, and what it was told is gone.
_FORGETFUL = frozenset({"startup", "clear", "compact"})


def ask(event: Event, folder: Path) -> str:
    """What to tell the agent, "" = nothing; the session's file remembers what was told.

    Raises:
        LookupError: no daemon runs.
        CogvaultError: the daemon cannot be used, or not for this vault.
    """
    vault = folder.resolve()  # as the daemon names it
    seen = StateFile(hooks_folder(), vault, event.session, "seen")
    is_forgotten = event.source in _FORGETFUL
    if is_forgotten:
        with suppress(OSError):
            seen.remove()
    known = [] if is_forgotten else [id for id in seen.read().get("ids", []) if isinstance(id, str)]
    told = _call(
        {
            "tenant": str(vault),
            "environment": {name: value for name, value in os.environ.items() if name.startswith("COGVAULT_")},
            "version": __version__,
            "event": event.name,
            "project": Path(event.folder).name,
            "prompt": event.prompt,
            "seen": known,
        }
    )
    if told["ids"]:
        with suppress(OSError):  # told again is better than not told; the start of the session warns of it
            seen.write({"ids": [*known, *told["ids"]]})
    return str(told["text"])


def _call(body: dict[str, Any]) -> Any:
    for endpoint in endpoints():
        try:
            return Connection(endpoint).call("/v1/vault/hook", body, repeatable=True)
        except NobodyListens:  # what a daemon that crashed left behind
            continue
    raise LookupError("no daemon runs; `cogvault daemon` starts one")
