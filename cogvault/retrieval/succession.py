"""Which cards another card says it took the place of, and since when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from cogvault.cards.links import LinkResolver
from cogvault.rankers.links import LinkGraph
from cogvault.types import CardInfo

ALWAYS = datetime.min.replace(tzinfo=UTC)


def replaced(cards: Iterable[CardInfo], resolve: Callable[[str, str], str | None]) -> Mapping[str, datetime]:
    """Ids of the cards that others name in ``supersedes``, and the instant since which the first of these holds:
    its ``valid_from``, else ``created``, else ``ALWAYS``.

    Args:
        cards: those that may name others.
        resolve: the card that a name means, and the card in which it stands, to an id; None = it leads nowhere.
    """
    found: dict[str, datetime] = {}
    for card in cards:
        for name in card.supersedes:
            old = resolve(name, card.id)
            if old is not None and old != card.id:
                since = card.valid_from or card.created or ALWAYS
                found[old] = min(since, found.get(old, since))
    return found


def replaced_among(cards: Sequence[CardInfo]) -> Mapping[str, datetime]:
    """``replaced`` for all cards of a vault. Names are looked up only when there is one."""
    naming = [card for card in cards if card.supersedes]
    if not naming:
        return {}
    resolver = LinkResolver(cards)
    return replaced(naming, lambda name, source: resolver.resolve(name, source_id=source).id)


class SharedGraph:
    """The link graph of the last snapshot, which follows the next one by what changed. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: LinkGraph | None = None

    def related(self, cards: Sequence[CardInfo], id: str) -> tuple[str, ...]:
        """Ids that a card is linked with."""
        with self._lock:
            return self._of(cards).related(id)

    def replaced(self, cards: Sequence[CardInfo], naming: Sequence[CardInfo]) -> Mapping[str, datetime]:
        """``replaced`` by those of the cards that name others."""
        if not naming:
            return {}
        with self._lock:
            return replaced(naming, self._of(cards).resolve)

    def _of(self, cards: Sequence[CardInfo]) -> LinkGraph:
        if self._graph is None:
            self._graph = LinkGraph(cards)
        self._graph.follow(cards)
        return self._graph
