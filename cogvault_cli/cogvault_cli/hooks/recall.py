"""What an agent is told without asking: at the start of a session, and with each prompt. Done by the daemon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cogvault import Fenced, Hit, Hits, Vault, clip, estimate_tokens, fence_text, fenced
from cogvault.types import Status

__all__ = ["BUDGET_TOKENS", "MIN_SCORE", "Told", "on_prompt", "on_start"]

# Everything that one event tells, markers and notices included.
BUDGET_TOKENS = 800
# The first rung of the threshold ladder: nobody asked, so only what surely belongs here is told.
MIN_SCORE = 0.45
_MAX_HITS = 8
_MAX_QUERY_CHARS = 8000
_ABSTRACT_TOKENS = 150
# What markers around two or three memories take, which packing does not count.
_MARKER_TOKENS = 160
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


def on_start(vault: Vault, project: str, seen: Sequence[str]) -> Told:
    """The vault in short, its pinned cards, and those that bear on the project; nothing of an empty vault.

    Args:
        vault: the daemon's, which watches the files itself.
        project: name of the folder where the agent works.
        seen: ids that the session was told.
    """
    status = vault.status()
    if not status.cards:
        return Told("")
    header = f"Long-term memory (cogvault): {status.cards} cards, status {status.status.value}. {_ADVICE}"
    abstract = fence_text(clip(vault.layers().abstract, _ABSTRACT_TOKENS), "the vault", layer="L0")
    begin = f"{header}\n\n{abstract}"
    left = _left(begin)
    query = project or "project"
    pinned = vault.search(query, _MAX_HITS, where={"pinned": True}, min_score=0.0, session_seen=seen, sync=False)
    # Half for the pinned ones, whatever they are about.
    kept = fenced(_in_short(vault, pinned), left // 2).shown
    known = [*seen, *(hit.id for hit in kept)]
    others = vault.search(query, _MAX_HITS, min_score=MIN_SCORE, session_seen=known, sync=False)
    answer = _in_short(vault, others)
    return _told(begin, fenced(replace(answer, items=(*kept, *answer)), left))


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
    left = _left(_HEADER)
    hits = vault.search(
        query, _MAX_HITS, min_score=MIN_SCORE, budget_tokens=left - _MARKER_TOKENS, session_seen=seen, sync=False
    )
    answer = fenced(hits, left)
    return _told(_HEADER, answer) if answer.shown else Told("")


def _in_short(vault: Vault, hits: Hits) -> Hits:
    """The same cards, each once, by their abstracts; without a status, which the beginning tells."""
    cards: dict[str, Hit] = {}
    for hit in hits:
        cards.setdefault(hit.id, hit)
    items = [replace(hit, text=vault.layers(id).abstract, reply="", layer="L0") for id, hit in cards.items()]
    return replace(hits, items=tuple(items), status=Status.OK)


def _left(begin: str) -> int:
    """Tokens for the memories themselves."""
    return BUDGET_TOKENS - estimate_tokens(f"{begin}\n\n")


def _told(begin: str, answer: Fenced) -> Told:
    if not answer.shown:
        return Told(begin)
    return Told(f"{begin}\n\n{answer.text}", tuple(dict.fromkeys(hit.id for hit in answer.shown)))
