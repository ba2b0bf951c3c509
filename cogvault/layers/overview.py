"""L1: a card as structured Markdown in 500 to 2,000 tokens, without a model. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cogvault.layers.abstract import show
from cogvault.layers.centrality import pick
from cogvault.layers.digest import Digest
from cogvault.layers.tokens import clip, estimate_tokens
from cogvault.types import Card

MIN_TOKENS = 500
MAX_TOKENS = 2_000
# A card of at most this many tokens is its own overview: any structure would be longer than it.
OWN_TOKENS = 100
# Share of a long card that its overview aims at, and of a short one that it may take.
_LONG_SHARE = 0.25
_SHORT_SHARE = 0.6
# What each part may take of the limit; key points get what is left.
_TODO_SHARE = 0.15
_TIMELINE_SHARE = 0.2
_OUTLINE_SHARE = 0.15
_NAMES_SHARE = 0.15
_SPEAKERS_SHARE = 0.1
_MAX_NAMES = 24
# Beside its date, a sentence is a reminder, not the text.
_TIMELINE_SENTENCE_TOKENS = 30
# A body this long is above every limit, however its tokens are counted.
_SURELY_LONG_CHARS = 200_000


def make_overview(card: Card, source: Digest, *, estimate: Callable[[str], int] = estimate_tokens) -> str:
    """What is in a card and where: outline, key points, names, dates, open tasks; speakers for a dialogue.

    Never longer than the body, never more than ``MAX_TOKENS`` tokens; ``""`` for an empty body.

    Args:
        card: the card.
        source: its digest.
        estimate: length of a text in tokens; that of two texts together is at most the sum of both.
    """
    body = card.body.strip()
    size = estimate(body) if len(body) <= _SURELY_LONG_CHARS else int(MAX_TOKENS / _LONG_SHARE)
    if size <= OWN_TOKENS:
        return body
    limit = int(max(min(MIN_TOKENS, _SHORT_SHARE * size), min(MAX_TOKENS, _LONG_SHARE * size)))
    parts = _Parts(limit, estimate)
    todos = parts.part("Open to-dos", _TODO_SHARE, (f"- [ ] {todo}" for todo in source.todos))
    timeline = parts.part("Timeline", _TIMELINE_SHARE, _timeline(source, estimate))
    speakers = parts.part("Speakers", _SPEAKERS_SHARE, (f"- {name}: {turns}" for name, turns in source.speakers))
    outline = parts.part("Outline", _OUTLINE_SHARE, _outline(card, source))
    names = parts.part("Names", _NAMES_SHARE, source.names[:_MAX_NAMES], ", ")
    points = parts.points(source)
    text = "\n\n".join(part for part in (outline, speakers, points, names, timeline, todos) if part)
    if not text or len(text) > len(body):
        return clip(body, limit, estimate)
    return text


def _outline(card: Card, source: Digest) -> Iterator[str]:
    """Headings as a nested list; nothing when there is but one, or only the title."""
    headings = [one for one in source.headings if one.text != card.title]
    if len(headings) > 1:
        top = min(heading.level for heading in headings)
        for heading in headings:
            yield f"{'  ' * (heading.level - top)}- {heading.text}"


def _timeline(source: Digest, estimate: Callable[[str], int]) -> list[str]:
    """Dates in order, each with the sentence that names it."""
    dated = sorted((day, number) for number, one in enumerate(source.sentences) for day in one.dates)
    return [
        f"- {day}: {clip(show(source, source.sentences[number]), _TIMELINE_SENTENCE_TOKENS, estimate)}"
        for day, number in dated
    ]


class _Parts:
    """Parts of an overview as they take their tokens from one limit."""

    def __init__(self, limit: int, estimate: Callable[[str], int]) -> None:
        self.limit = limit
        self.left = limit
        self.estimate = estimate

    def part(self, title: str, share: float, lines: Iterable[str], joint: str = "\n") -> str:
        """A heading and as many lines as its share holds; ``""`` when there is none."""
        head = f"## {title}\n\n"
        cost = self.estimate(head + "\n\n")
        kept: list[str] = []
        for line in lines:
            price = self.estimate(line + joint)
            if cost + price > min(self.limit * share, self.left):
                break
            kept.append(line)
            cost += price
        return self._take(head, joint.join(kept), cost)

    def points(self, source: Digest) -> str:
        """The sentences that say most: the best of each section or speaker first, then the best of all."""
        head = "## Key points\n\n"
        cost = self.estimate(head + "\n\n")
        lines = [f"- {show(source, one)}" for one in source.sentences]
        prices: dict[int, int] = {}

        def price(index: int) -> int:
            return prices.setdefault(index, self.estimate(lines[index] + "\n"))

        chosen = pick(_by_group(source), [one.terms for one in source.sentences], price, self.left - cost)
        if not chosen and source.order:
            line = clip(lines[source.order[0]], self.left - cost, self.estimate)
            return self._take(head, line, cost + self.estimate(line + "\n"))
        text = "\n".join(lines[index] for index in chosen)
        return self._take(head, text, cost + sum(prices[index] for index in chosen))

    def _take(self, head: str, text: str, cost: int) -> str:
        if not text:
            return ""
        self.left -= cost
        return head + text


def _by_group(source: Digest) -> list[int]:
    """Indices of sentences, the best of each section, or of each speaker of a dialogue, before all others."""
    seen: set[tuple[int, str]] = set()
    first: list[int] = []
    rest: list[int] = []
    for index in source.order:
        one = source.sentences[index]
        group = (one.section, one.speaker if source.speakers else "")
        (rest if group in seen else first).append(index)
        seen.add(group)
    return first + rest
