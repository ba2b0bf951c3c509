"""What an agent is told without asking: at the start of a session, and with each prompt. Done by the daemon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cogvault import Vault, clip, estimate_tokens, fence_text

__all__ = ["BUDGET_TOKENS", "MIN_SCORE", "Told", "on_prompt", "on_start"]

# Everything that one event tells, markers and notices included.
BUDGET_TOKENS = 800
# The first rung of the threshold ladder: nobody asked, so only what surely belongs here is told.
MIN_SCORE = 0.45
_MAX_HITS = 8
_MAX_QUERY_CHARS = 8000
_ABSTRACT_TOKENS = 150
_HEADER = "Memories that may bear on this prompt (cogvault):"
_ADVICE = "Ask cogvault_recall before deciding what may have come up before; record what is decided or learned."


class Told(NamedTuple):
    """An answer.

    Attributes:
        text: for the agent, "" = nothing.
        ids: cards that need not be told again in this session.
    """

    text: str
    ids: tuple[str, ...] = ()


def on_start(vault: Vault, project: str) -> Told:
    """The vault in short, its pinned cards, and those that bear on the project; nothing of an empty vault.

    Args:
        vault: the daemon's, which watches the files itself.
        project: name of the folder where the agent works.
    """
    status = vault.status()
    if not status.cards:
        return Told("")
    header = f"Long-term memory (cogvault): {status.cards} cards, status {status.status.value}. {_ADVICE}"
    abstract = clip(vault.layers().abstract, _ABSTRACT_TOKENS)
    left = _left(header) - estimate_tokens(f"{abstract}\n\n")
    query = project or "project"
    # Half for the pinned ones, whatever they are about.
    pinned = vault.search(
        query, _MAX_HITS, where={"pinned": True}, min_score=0.0, budget_tokens=left // 2, layer="L0", sync=False
    )
    others = vault.search(
        query,
        _MAX_HITS,
        min_score=MIN_SCORE,
        budget_tokens=left // 2,
        layer="L0",
        session_seen=[hit.id for hit in pinned],
        sync=False,
    )
    return Told(_told(header, "\n\n".join(text for text in (abstract, pinned.text, others.text) if text)))


def on_prompt(vault: Vault, prompt: str, seen: Sequence[str]) -> Told:
    """Memories that surely bear on the prompt and were not told in this session.

    Args:
        vault: the daemon's, which watches the files itself.
        prompt: what the user wrote.
        seen: ids that the session was told.
    """
    query = prompt.strip()[:_MAX_QUERY_CHARS]
    if not query or query.startswith("/"):  # a command's name says nothing about its subject
        return Told("")
    hits = vault.search(
        query, _MAX_HITS, min_score=MIN_SCORE, budget_tokens=_left(_HEADER), session_seen=seen, sync=False
    )
    return Told(_told(_HEADER, hits.text), tuple(dict.fromkeys(hit.id for hit in hits))) if hits.text else Told("")


def _left(header: str) -> int:
    """Tokens for the memories themselves."""
    return BUDGET_TOKENS - estimate_tokens(_told(header, ""))


def _told(header: str, memories: str) -> str:
    return f"{header}\n\n{fence_text(memories, 'the vault')}"
