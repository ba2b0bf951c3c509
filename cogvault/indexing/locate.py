"""The file of the card that a name means, indexed already or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cogvault.cards.addresses import find_card, paths_of
from cogvault.cards.paths import refusal, resolve_inside
from cogvault.errors import PathError
from cogvault.indexing.scan import ScanOptions, scan
from cogvault.types import CardInfo

__all__ = ["Located", "locate"]


@dataclass(frozen=True, slots=True)
class Located:
    """A card and its file.

    Attributes:
        path: vault-relative path on disk, with ``/``.
        file: the same path, absolute; its last part may be a symbolic link that stays inside the vault.
    """

    id: str
    path: str
    file: Path


def locate(root: Path, options: ScanOptions, cards: Sequence[CardInfo], text: str) -> Located:
    """Find a card.

    Args:
        root: the vault.
        options: which files belong to it, for a card that is not indexed yet.
        cards: what is indexed, ordered by id.
        text: id of the card, its path on disk, or its address.

    Raises:
        PathError: no card has this name; the refusal does not say what exists.
        VaultError: the vault's folder is gone.
    """
    card = find_card(cards, text)
    if card is not None:
        return Located(card.id, card.path, _file(root, card.path, text))
    for path in paths_of(text):
        file = _file(root, path, text)  # nothing outside is looked at
        for found in scan(root, options, [path]).files.values():
            if path in (found.id, found.path):
                return Located(found.id, found.path, file)
    raise refusal(text)


def _file(root: Path, path: str, text: str) -> Path:
    try:
        return resolve_inside(root, path)
    except PathError as error:
        raise refusal(text) from error
