"""What an answer is worth."""

from __future__ import annotations

from dataclasses import dataclass

from cogvault.types import Status

__all__ = ["State"]


@dataclass(frozen=True, slots=True)
class State:
    """What an answer is worth, why, and what to do about it."""

    status: Status
    reason: str = ""
    hint: str = ""
