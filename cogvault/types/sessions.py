"""What is said in a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cogvault.types.base import EMPTY_META, JsonValue


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue.

    Attributes:
        speaker: who speaks.
        text: what is said, any text.
        at: when, timezone-aware; None where nobody wrote it down (when appending: now).
        meta: whatever else belongs to the turn, as JSON values.
    """

    speaker: str
    text: str
    at: datetime | None = None
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY_META)
