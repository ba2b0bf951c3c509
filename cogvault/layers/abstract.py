"""L0: a card in about 100 tokens, without a model. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Callable

from cogvault.layers.centrality import pick
from cogvault.layers.digest import Digest, Sentence
from cogvault.layers.tokens import clip, estimate_tokens
from cogvault.types import Card

ABSTRACT_TOKENS = 100
# A dialogue's abstract starts with who spoke; more speakers than these are not named.
_MAX_SPEAKERS = 4
_DENSE_ENDS = ("。", "！", "？", "」", "』")


def make_abstract(
    card: Card, source: Digest, *, tokens: int = ABSTRACT_TOKENS, estimate: Callable[[str], int] = estimate_tokens
) -> str:
    """What a card says, in at most ``tokens`` tokens: never empty unless title and card are.

    The author's own ``description`` or ``summary`` goes first; else the sentences that say most of the card, in reading
    order; else its tasks, its headings, its title.

    Args:
        card: the card.
        source: its digest.
        tokens: upper limit.
        estimate: length of a text in tokens.
    """
    if own := own_summary(card):
        return clip(own, tokens, estimate)
    shown = [show(source, one) for one in source.sentences]
    lead = _lead(source)
    budget = tokens - (estimate(lead + " ") if lead else 0)
    chosen = pick(
        source.order, [one.terms for one in source.sentences], lambda index: estimate(shown[index] + " "), budget
    )
    if not chosen and source.order:
        return _join([lead, clip(shown[source.order[0]], budget, estimate)])
    if chosen:
        return _join([lead, *(shown[index] for index in chosen)])
    rest = "; ".join(source.todos) or "; ".join(heading.text for heading in source.headings) or card.title
    return clip(" ".join(rest.split()), tokens, estimate)


def own_summary(card: Card) -> str:
    """What the author says of the card in its frontmatter, on one line, or ``""``."""
    summary = card.meta.get("summary")
    text = card.description or (summary if isinstance(summary, str) else "")
    return " ".join(text.split())


def show(source: Digest, sentence: Sentence) -> str:
    """A sentence with the one who says it."""
    if sentence.speaker and (source.speakers or sentence.opening):
        return f"{sentence.speaker}: {sentence.text}"
    return sentence.text


def _lead(source: Digest) -> str:
    """Who spoke and when: ``Ana, Ben (2023-05-08).``"""
    if not source.speakers:
        return ""
    names = ", ".join(name for name, _ in source.speakers[:_MAX_SPEAKERS])
    more = ", …" if len(source.speakers) > _MAX_SPEAKERS else ""
    days = source.days
    span = "" if not days else f" ({days[0]})" if days[0] == days[-1] else f" ({days[0]} – {days[-1]})"
    return f"{names}{more}{span}."


def _join(parts: list[str]) -> str:
    """Sentences as one paragraph; scripts without spaces stay without."""
    text = ""
    for part in parts:
        text += part if not text or text.endswith(_DENSE_ENDS) else f" {part}" if part else ""
    return text
