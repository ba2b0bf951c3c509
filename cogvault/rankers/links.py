"""Which cards a card is linked with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cogvault.cards.links import LinkResolver
from cogvault.types import CardInfo


class LinkGraph:
    """Links between the cards of one snapshot, resolved both ways. Ghost links lead nowhere.

    Args:
        cards: all cards of the snapshot.
    """

    def __init__(self, cards: Sequence[CardInfo]) -> None:
        self.cards = cards
        self._to: dict[str, tuple[str, ...]] = {}
        back: dict[str, dict[str, None]] = defaultdict(dict)
        linking = [card for card in cards if card.links]
        if linking:
            resolver = LinkResolver(cards)
            for card in linking:
                found = (resolver.resolve(link.target, source_id=card.id, kind=link.kind).id for link in card.links)
                targets = tuple(dict.fromkeys(id for id in found if id is not None and id != card.id))
                self._to[card.id] = targets
                for target in targets:
                    back[target][card.id] = None
        self._from = {target: tuple(sources) for target, sources in back.items()}

    def related(self, id: str) -> tuple[str, ...]:
        """Ids this card links to, then ids that link to it, each once."""
        return tuple(dict.fromkeys((*self._to.get(id, ()), *self._from.get(id, ()))))

    def backlinks(self, id: str) -> tuple[str, ...]:
        """Ids of cards that link to this one, ordered by id."""
        return self._from.get(id, ())
