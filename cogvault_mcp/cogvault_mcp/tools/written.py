"""What a write did, as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogvault_mcp.tools.tool import Answer

if TYPE_CHECKING:
    from cogvault.types import WriteResult

__all__ = ["written"]


def written(result: WriteResult) -> Answer:
    """One line for what was done, and one for each thing to know about it."""
    lines = [f"{result.action.value}: {result.id}"]
    if result.hash:
        lines.append(f"hash {result.hash} (pass it as base_hash to change this version only)")
    lines += [f"nearly the same: {similar.id} ({similar.similarity:.2f})" for similar in result.similar]
    lines += [f"looks like a secret ({secret.kind}), line {secret.line}" for secret in result.secrets]
    if result.links_rewritten:
        lines.append(f"{result.links_rewritten} links rewritten")
    lines += [f"problem: {problem.path}: {problem.message}" for problem in result.problems]
    return Answer("\n".join(lines), {"status": "ok", **result.to_dict()})
