"""Cards by address: lists and trees of a part of a vault. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from cogvault.cards.addresses import card_uri, has_card, prefix_of
from cogvault.retrieval.decay import review_due, validity
from cogvault.retrieval.succession import SharedGraph
from cogvault.types import CardInfo, Folder, ListedCard

__all__ = ["list_cards", "tree_of"]


def list_cards(cards: Sequence[CardInfo], links: SharedGraph, prefix: str, now: datetime) -> tuple[ListedCard, ...]:
    """The cards below a folder or the beginning of an address, ordered by id; none where nothing is.

    Args:
        cards: all cards of the vault, ordered by id.
        links: which card a name means.
        prefix: it ends at a path boundary; "" = all.
        now: the instant for which validity is told.

    Raises:
        PathError: the prefix can name nothing in a vault.
    """
    part = prefix_of(prefix)
    is_card = partial(has_card, cards)
    replaced = links.replaced(cards, [card for card in cards if card.supersedes])
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
        for card in cards
        if part.holds(card.id)
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
