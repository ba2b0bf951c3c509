"""What layers of a card are made from. Pure."""

from __future__ import annotations

import hashlib
import json

from cogvault.types import Card


def layers_hash(card: Card) -> str:
    """Hash of all of a card that its layers depend on; see ``protocols.Summarizer``."""
    summary = card.meta.get("summary")
    parts = [card.title, card.description, summary if isinstance(summary, str) else "", card.body]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
