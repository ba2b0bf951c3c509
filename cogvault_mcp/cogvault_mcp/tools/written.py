"""What a write did, as an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cogvault_mcp.tools.tool import Answer

if TYPE_CHECKING:
    from cogvault.types import WriteResult

__all__ = ["written"]

# Of each kind: a long text may hold any number of secrets, and as many problems as cards may come with a move.
_TOLD = 15
_LINE_TOKENS = 100


def written(result: WriteResult, told: Callable[[str], str]) -> Answer:
    """One line for what was done, and one for each thing to know about it; what files say between markers.

    Args:
        result: of the write.
        told: as ``Memory.told``.
    """
    from cogvault import fence_text

    lines = [f"{result.action.value}: {result.id}"]
    if result.hash:
        lines.append(f"hash {result.hash} (pass it as base_hash to change this version only)")
    lines += _few([f"looks like a secret ({secret.kind}), line {secret.line}" for secret in result.secrets])
    if result.links_rewritten:
        lines.append(f"{result.links_rewritten} links rewritten")
    known = _few([f"nearly the same: {similar.id} ({similar.similarity:.2f})" for similar in result.similar])
    known += _few([f"problem: {problem.path}: {told(problem.message)}" for problem in result.problems])
    if known:
        lines.append(fence_text("\n".join(known), "the vault"))
    fields = {"action": result.action.value, "id": result.id, "uri": result.uri, "hash": result.hash}
    return Answer("\n".join(lines), fields=fields)


def _few(lines: list[str]) -> list[str]:
    """The first lines, none of them long, and how many there are beside them."""
    from cogvault import clip

    more = [f"… and {len(lines) - _TOLD} more like this"] if len(lines) > _TOLD else []
    return [clip(line, _LINE_TOKENS) for line in lines[:_TOLD]] + more
