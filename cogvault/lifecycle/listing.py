"""Cards by address: lists and trees of a part of a vault. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from cogvault.cards.addresses import card_uri, has_card, prefix_of
from cogvault.errors import QueryError
from cogvault.retrieval.decay import review_due, validity
from cogvault.retrieval.succession import SharedGraph
from cogvault.types import CardInfo, Folder, ListedCard

__all__ = ["list_cards", "tree_of"]


def list_cards(
    cards: Sequence[CardInfo],
    links: SharedGraph,
    prefix: str,
    now: datetime,
    after: str = "",
    limit: int | None = None,
) -> tuple[ListedCard, ...]:
    """The cards below a folder or the beginning of an address, ordered by id; none where nothing is.

    Args:
        cards: all cards of the vault, ordered by id.
        links: which card a name means.
        prefix: it ends at a path boundary; "" = all.
        now: the instant for which validity is told.
        after: the list begins behind this id, which need not be there; "" = at the first.
        limit: cards at most, None = all.

    Raises:
        PathError: the prefix can name nothing in a vault.
        QueryError: the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise QueryError(f"not a number of cards: {limit}", key="limit", hint="give 1 or more, or None for all")
    part = prefix_of(prefix).among(cards)
    is_card = partial(has_card, cards)
    begin = bisect_right(cards, after, key=lambda card: card.id) if after else 0
    below = (cards[place] for place in range(begin, len(cards)) if part.holds(cards[place].id))
    replaced = links.replaced(cards, cards)
    return tuple(
        ListedCard(
            id=card.id,
            uri=card_uri(card.id, is_card),
            title=card.title,
            type=card.type,
            tags=card.tags,
            dated=card.dated,
            valid=validity(card, now, replaced),
            size=card.stamp.size,
            review_due=review_due(card, now),
        )
        for card in islice(below, limit)
    )


def tree_of(cards: Sequence[ListedCard]) -> Folder:
    """The cards, ordered by id, as folders from the vault down."""
    return _folder("", list(cards))


def _folder(path: str, cards: list[ListedCard]) -> Folder:
    start = len(path) + 1 if path else 0
    own: list[ListedCard] = []
    below: dict[str, list[ListedCard]] = {}
    for card in cards:
        name, slash, _ = card.id[start:].partition("/")
        if slash:
            below.setdefault(name, []).append(card)
        else:
            own.append(card)
    folders = (_folder(f"{path}/{name}" if path else name, inner) for name, inner in sorted(below.items()))
    return Folder(path, len(cards), tuple(folders), tuple(own))
