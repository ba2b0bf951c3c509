"""How a dialogue turn is made searchable. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cogvault.text.dates import date_forms, resolve_relative


def turn_terms(speaker: str, said: str, at: datetime | None, headings: Sequence[str] = ()) -> str:
    """What the keyword index analyzes of a turn: who, what, when, and the days that it speaks of.

    Args:
        speaker: who speaks.
        said: the turn's text without the speaker's mark.
        at: when, in the speaker's zone; its day is added in words, and relative dates ("last Friday") are resolved
            against it.
        headings: headings that stand in the turn's own lines.
    """
    parts = [*headings, f"{speaker} {said}"]
    if at is not None:
        days = (*date_forms(at.date(), said), *resolve_relative(said, at))
        parts.append(" ".join(dict.fromkeys(days)))
    return "\n".join(parts)


def turn_embedding(speaker: str, said: str) -> str:
    """What the model reads of a turn."""
    return f"{speaker}: {said}"
