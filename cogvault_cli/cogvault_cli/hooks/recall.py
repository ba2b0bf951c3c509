"""What an agent is told without asking: at the start of a session, and with each prompt."""

from __future__ import annotations

from pathlib import Path

from cogvault import clip, estimate_tokens, fence_text
from cogvault.client import RemoteVault
from cogvault_cli.hooks.event import Event
from cogvault_cli.hooks.state import StateFile

__all__ = ["BUDGET_TOKENS", "MIN_SCORE", "on_prompt", "on_start"]

# Everything that one event tells, markers and notices included.
BUDGET_TOKENS = 800
# The first rung of the threshold ladder: nobody asked, so only what surely belongs here is told.
MIN_SCORE = 0.45
_MAX_HITS = 8
_MAX_QUERY_CHARS = 8000
_ABSTRACT_TOKENS = 150
_HEADER = "Memories that may bear on this prompt (cogvault):"
_ADVICE = "Ask cogvault_recall before deciding what may have come up before; record what is decided or learned."
# Where the agent's context begins anew, and what it was told is gone.
_FORGETFUL = frozenset({"startup", "clear", "compact"})


def on_start(event: Event, vault: RemoteVault, seen: StateFile) -> str:
    """The vault in short, its pinned cards, and those that bear on the project; "" = the vault is empty.

    Args:
        event: session-start.
        vault: the daemon's, which watches the files itself.
        seen: ids that the session was told.
    """
    if event.source in _FORGETFUL:
        seen.remove()
    status = vault.status()
    if not status.cards:
        return ""
    header = f"Long-term memory (cogvault): {status.cards} cards, status {status.status.value}. {_ADVICE}"
    abstract = clip(vault.layers().abstract, _ABSTRACT_TOKENS)
    left = _left(header) - estimate_tokens(f"{abstract}\n\n")
    project = Path(event.folder).name or "project"
    # Half for the pinned ones, whatever they are about.
    pinned = vault.search(
        project, _MAX_HITS, where={"pinned": True}, min_score=0.0, budget_tokens=left // 2, layer="L0", sync=False
    )
    others = vault.search(
        project,
        _MAX_HITS,
        min_score=MIN_SCORE,
        budget_tokens=left // 2,
        layer="L0",
        session_seen=[hit.id for hit in pinned],
        sync=False,
    )
    return _told(header, "\n\n".join(text for text in (abstract, pinned.text, others.text) if text))


def on_prompt(event: Event, vault: RemoteVault, seen: StateFile) -> str:
    """Memories that surely bear on the prompt and were not told in this session; "" = none.

    Args:
        event: prompt.
        vault: the daemon's, which watches the files itself.
        seen: ids that the session was told; those that are told now are added.
    """
    query = event.prompt.strip()[:_MAX_QUERY_CHARS]
    if not query or query.startswith("/"):  # a command's name says nothing about its subject
        return ""
    known = [id for id in seen.read().get("ids", []) if isinstance(id, str)]
    hits = vault.search(
        query, _MAX_HITS, min_score=MIN_SCORE, budget_tokens=_left(_HEADER), session_seen=known, sync=False
    )
    if not hits.text:
        return ""
    seen.write({"ids": [*known, *dict.fromkeys(hit.id for hit in hits)]})
    return _told(_HEADER, hits.text)


def _left(header: str) -> int:
    """Tokens for the memories themselves."""
    return BUDGET_TOKENS - estimate_tokens(_told(header, ""))


def _told(header: str, memories: str) -> str:
    return f"{header}\n\n{fence_text(memories, 'the vault')}"
