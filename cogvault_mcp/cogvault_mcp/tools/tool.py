"""What a tool is, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from cogvault_mcp.arguments import Arguments
from cogvault_mcp.memory import Memory

__all__ = ["DEFAULT_BUDGET", "LEAST_BUDGET", "Answer", "Progress", "Tool", "within"]

A = TypeVar("A", bound=Arguments)

# Tokens that no answer is above unless another budget was named.
DEFAULT_BUDGET = 4000
# Tokens that hold the markers, the fields and some text.
LEAST_BUDGET = 200
# Steps done, steps in all, what is being done.
Progress = Callable[[float, float, str], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """Text for the model and the same as data.

    Some clients give a model the text, others the data. So the data holds the text, and beside it nothing that a card
    says: what was read from files stands between markers in both.

    Attributes:
        text: what the model is to read.
        status: as in ``cogvault.types.Status``.
        fields: ids, numbers and labels for programs.
    """

    text: str
    status: str = "ok"
    fields: dict[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {"status": self.status, "text": self.text, **self.fields}

    def tokens(self) -> int:
        """Its size as JSON, estimated, which is never below that of the text."""
        from cogvault import estimate_tokens

        return estimate_tokens(json.dumps(self.data(), ensure_ascii=False, separators=(",", ":")))


def within(budget_tokens: int, make: Callable[[int], Answer]) -> Answer:
    """An answer whose data is within the budget, and so is its text.

    Args:
        budget_tokens: size at most.
        make: gives an answer with a text of at most so many tokens.
    """
    room = budget_tokens
    while (size := (answer := make(room)).tokens()) > budget_tokens and room > 0:
        room = min(room - 1, room * budget_tokens // size)  # quotation marks and line ends count twice in JSON
    return answer


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool.

    Attributes:
        name: as clients call it.
        title: as people see it.
        description: when to use it.
        arguments: what it takes.
        run: does it, in a worker thread.
        output: JSON schema of the data.
        is_read_only: changes nothing.
        is_destructive: may take something away.
        is_idempotent: doing it twice is as doing it once.
    """

    name: str
    title: str
    description: str
    arguments: type[A]
    run: Callable[[Memory, A, Progress], Answer]
    output: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True
