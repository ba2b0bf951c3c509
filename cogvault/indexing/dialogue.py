"""How a dialogue turn is made searchable. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from cogvault.indexing.budget import TokenBudget
from cogvault.text.dates import date_forms, resolve_relative
from cogvault.text.queries import speaker_form
from cogvault.text.tokens import is_dense, is_identifier, words
from cogvault.types import Chunk, ChunkKind

# Context in front of a chunk's own text takes at most this part of the window.
CONTEXT_SHARE = 4


def turn_terms(speaker: str, said: str, at: datetime | None, headings: Sequence[str] = ()) -> str:
    """What the keyword index analyzes of a turn: who, what, when, and the days that it speaks of.

    Args:
        speaker: who speaks.
        said: the turn's text without the speaker's mark.
        at: when, in the speaker's zone; its day is added in words, and relative dates ("last Friday") are resolved
            against it.
        headings: headings that stand in the turn's own lines.
    """
    parts = [*headings, _speaker_terms(speaker), said]
    if at is not None:
        days = (*date_forms(at.date(), said), *resolve_relative(said, at))
        parts.append(" ".join(dict.fromkeys(days)))
    return "\n".join(parts)


def _speaker_terms(speaker: str) -> str:
    """``speaker:ana`` for each word of a name: so a query that names Ana finds what she said, not what is said of her.

    Out of it the analyzer takes "ana" by itself; what it cannot see there, as in 王小明 and Anna-Lena, follows.
    """
    names = dict.fromkeys(word for word in words(speaker) if any(map(str.isalpha, word)))
    return " ".join([*map(speaker_form, names), *(word for word in names if is_dense(word) or is_identifier(word))])


def in_context(chunks: Sequence[Chunk], budget: TokenBudget) -> list[Chunk]:
    """Turns with what the model reads of the turn before, which says what an answer answers.

    Measured on LoCoMo: recall of the right turn among ten rises from 0.81 to 0.83.

    Args:
        chunks: chunks of one card in order.
        budget: the context takes at most a quarter of it, and is left out where it does not fit.
    """
    told = list(chunks)
    for place, (before, chunk) in enumerate(pairwise(chunks), 1):
        if before.kind is ChunkKind.TURN and chunk.kind is ChunkKind.TURN and before.embed_text and chunk.embed_text:
            context = budget.clip(before.embed_text, budget.max_tokens // CONTEXT_SHARE)
            text = f"{context}\n{chunk.embed_text}"
            if budget.fits(text, budget.max_tokens):
                told[place] = replace(chunk, embed_text=text)
    return told


def turn_embedding(speaker: str, said: str) -> str:
    """What the model reads of a turn."""
    return f"{speaker}: {said}"
