"""Which cards a card is linked with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from cogvault.cards.links import LinkResolver
from cogvault.indexes.difference import difference
from cogvault.text.normalise import fold
from cogvault.types import Card, CardInfo, Link, LinkKind


class LinkGraph:
    """Links between the cards of one snapshot, resolved both ways. Ghost links lead nowhere.

    It follows from one snapshot to the next by the cards that came and went; a link is resolved when somebody asks.

    Args:
        cards: all cards of the snapshot.
    """

    cards: Sequence[CardInfo]
    _types: Counter[str]

    def __init__(self, cards: Sequence[CardInfo]) -> None:
        self._make(cards)

    def follow(self, cards: Sequence[CardInfo]) -> None:
        """Be the graph of another snapshot."""
        if cards is self.cards:
            return
        change = difference(self.cards, cards)
        types = self._types + Counter(_types(change.come))
        types.subtract(_types(change.gone))
        # A type that is new, or no longer there, changes which prefixes the links of all other cards may leave out.
        if change.is_large or set(+types) != set(self._types):
            self._make(cards)
            return
        for card in change.gone:
            self._drop(card)
        for card in change.come:
            self._take(card)
        for key in {key for card in (*change.gone, *change.come) for key in self._keys(card)}:
            for asked in self._asked.pop(key, ()):
                self._meant.pop(asked, None)
        self.cards, self._types = cards, +types
        self._found.clear()

    def related(self, id: str) -> tuple[str, ...]:
        """Ids this card links to, then ids that link to it, each once."""
        if id not in self._found:
            card = self._by_id.get(id)
            self._found[id] = () if card is None else tuple(dict.fromkeys((*self._targets(card), *self.backlinks(id))))
        return self._found[id]

    def resolve(self, target: str, source: str, kind: LinkKind = LinkKind.WIKI) -> str | None:
        """The card that a link of the card ``source`` means, or a name in its frontmatter; None = it leads nowhere."""
        return self._resolver.resolve(target, source_id=source, kind=kind).id

    def meant(self, name: str, source: str) -> str | None:
        """As ``resolve`` of a name in the frontmatter; kept until a card comes or goes that it may mean."""
        asked = name, source
        if asked not in self._meant:
            self._meant[asked] = self.resolve(name, source)
            for key in self._resolver.loose_keys(name):
                self._asked[key].add(asked)
        return self._meant[asked]

    def naming(self, names: Iterable[str]) -> tuple[str, ...]:
        """Ids of the cards with a link that may mean one of these paths, names or titles, ordered by id.

        Every link that does is among theirs.
        """
        keys = {key for name in names for key in self._resolver.loose_keys(name)}
        return tuple(sorted({source for key in keys for source in self._links.get(key, ())}))

    @contextmanager
    def renamed(self, gone: Iterable[str], card: Card) -> Iterator[None]:
        """While the block lasts, ``resolve`` answers as if the cards ``gone`` were not there and ``card`` were."""
        left = [self._by_id[id] for id in dict.fromkeys(gone) if id in self._by_id]
        for other in left:
            self._resolver.remove(other)
        self._resolver.add(card)
        try:
            yield
        finally:
            self._resolver.remove(card)
            for other in left:
                self._resolver.add(other)

    def backlinks(self, id: str) -> tuple[str, ...]:
        """Ids of cards that link to this one, ordered by id."""
        card = self._by_id.get(id)
        if card is None:
            return ()
        sources = {
            source
            for key in self._keys(card)
            for source, links in self._links.get(key, {}).items()
            if source != id and any(self._resolved(link, source) == id for link in links)
        }
        return tuple(sorted(sources))

    def _make(self, cards: Sequence[CardInfo]) -> None:
        self._types = Counter(_types(cards))
        self._by_id: dict[str, CardInfo] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        # By each loose key of a link's target: the links that have it, by the card that holds them.
        self._links: dict[str, dict[str, list[Link]]] = defaultdict(dict)
        # What names in the frontmatter mean, and which were asked for by each loose key.
        self._meant: dict[tuple[str, str], str | None] = {}
        self._asked: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._resolver = LinkResolver(cards)
        for card in cards:
            self._by_id[card.id] = card
            self._take_links(card)
        # Last, so that what was broken off is not taken for the graph of these cards.
        self.cards = cards

    def _take(self, card: CardInfo) -> None:
        self._by_id[card.id] = card
        self._resolver.add(card)
        self._take_links(card)

    def _take_links(self, card: CardInfo) -> None:
        for link in dict.fromkeys(card.links):
            for key in self._resolver.loose_keys(link.target):
                self._links[key].setdefault(card.id, []).append(link)

    def _drop(self, card: CardInfo) -> None:
        del self._by_id[card.id]
        self._resolver.remove(card)
        for link in card.links:
            for key in self._resolver.loose_keys(link.target):
                self._links.get(key, {}).pop(card.id, None)

    def _keys(self, card: CardInfo) -> set[str]:
        names = (card.id, card.name, *card.aliases, card.title)
        return {key for name in names if name for key in self._resolver.loose_keys(name)}

    def _targets(self, card: CardInfo) -> list[str]:
        found = (self._resolved(link, card.id) for link in card.links)
        return [id for id in found if id is not None and id != card.id]

    def _resolved(self, link: Link, source: str) -> str | None:
        return self._resolver.resolve(link.target, source_id=source, kind=link.kind).id


def _types(cards: Sequence[CardInfo]) -> list[str]:
    return [fold(card.type) for card in cards if card.type]
