"""Which cards another card says it took the place of, and since when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from cogvault.rankers.links import LinkGraph
from cogvault.types import CardInfo, LinkKind

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


class SharedGraph:
    """The link graph of the last snapshot, which follows the next one by what changed. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: LinkGraph | None = None

    def forget(self) -> None:
        """Keep nothing: the next graph is made from its cards."""
        with self._lock:
            self._graph = None

    @contextmanager
    def of(self, cards: Sequence[CardInfo]) -> Iterator[LinkGraph]:
        """The graph of these cards, for this thread alone while the block lasts: it is to be short."""
        with self._lock:
            # Nothing is kept meanwhile: broken off, by Ctrl-C for example, it may be the graph of no snapshot.
            graph, self._graph = self._graph, None
            if graph is None:
                graph = LinkGraph(cards)
            graph.follow(cards)
            yield graph
            self._graph = graph

    def related(self, cards: Sequence[CardInfo], id: str) -> tuple[str, ...]:
        """Ids that a card is linked with."""
        with self.of(cards) as graph:
            return graph.related(id)

    def resolve(
        self, cards: Sequence[CardInfo], target: str, source: str, kind: LinkKind = LinkKind.WIKI
    ) -> str | None:
        """The card that a link of the card ``source`` means, or a name in its frontmatter; None = it leads nowhere."""
        with self.of(cards) as graph:
            return graph.resolve(target, source, kind)

    def replaced(self, cards: Sequence[CardInfo], among: Iterable[CardInfo]) -> Mapping[str, datetime]:
        """``replaced`` by those ``among`` the cards that name others."""
        naming = [card for card in among if card.supersedes]
        if not naming:
            return {}
        with self.of(cards) as graph:
            return replaced(naming, graph.meant)
