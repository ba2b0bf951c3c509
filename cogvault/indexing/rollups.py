"""Layers of cards and folders: folders' kept equal to the cards of an index, and both given to who asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cogvault.cards.links import LinkResolver
from cogvault.cards.paths import printable
from cogvault.errors import PathError
from cogvault.indexing.cardfiles import SUMMARIZER_PROBLEM
from cogvault.layers.folder_store import FolderStore
from cogvault.layers.rollup import ROOT, roll_up
from cogvault.protocols import Snapshot
from cogvault.text.normalise import nfc
from cogvault.types import CardInfo, CardLayers

__all__ = ["VaultLayers", "folder_of", "folders_above", "update_folders"]


class VaultLayers:
    """Abstracts and overviews of a vault.

    Args:
        snapshot: gives the newest state of the index, after a look for changed files.
        folders: where those of folders are.
        summarizer: fingerprint of what makes those of cards.
    """

    def __init__(self, snapshot: Callable[[], Snapshot], folders: FolderStore, summarizer: str) -> None:
        self._snapshot = snapshot
        self._folders = folders
        self._summarizer = summarizer

    def __call__(self, id: str = ROOT) -> CardLayers:
        """Abstract (L0) and overview (L1).

        Args:
            id: a card's id, or a folder's path; ``""`` or ``.`` is the vault.

        Raises:
            PathError: it is neither; the refusal does not say what exists.
        """
        snapshot = self._snapshot()
        if any(card.id == id for card in snapshot.cards):
            return snapshot.layers([id])[0]
        folder = folder_of(id)
        # Only after the store was lost or a sync was cut off is there something to do.
        update_folders(snapshot, self._folders, self._summarizer, is_changed=False)
        found = self._folders.find(folder) if folder == printable(folder) else None  # no other is a folder's name
        if found is None and folder != ROOT:
            hint = "ids are as `cogvault search` shows them; a folder is a path such as user/ana"
            raise PathError("no such card or folder", path=printable(id), hint=hint)
        return found or CardLayers("", "")


def folder_of(text: str) -> str:
    """The folder that a text names, as the store knows it."""
    return ROOT if text in ("", ".", "./") else nfc(text).removeprefix("./").removesuffix("/") or text


def folders_above(ids: Iterable[str]) -> set[str]:
    """Paths of the folders whose layers may tell of these cards: those around them, up to the vault."""
    found = {ROOT}
    for id in ids:
        while id := id.rpartition("/")[0]:
            found.add(id)
    return found


def update_folders(snapshot: Snapshot, store: FolderStore, summarizer: str, *, is_changed: bool) -> int:
    """Make layers of folders anew where a card's changed; how many folders.

    Args:
        snapshot: the cards.
        store: where folders' layers are.
        summarizer: fingerprint of what makes the cards' layers.
        is_changed: the cards changed; else this is done only when the store was made from another state of the index.
    """
    sequence = snapshot.stats.sequence
    if not is_changed and store.sequence() == sequence:
        return 0
    labels = _labels(snapshot.cards)
    change = roll_up(
        {card.id: f"{_state(card, summarizer)} {labels.get(card.id, '')}" for card in snapshot.cards},
        store.stored().hashes,
        snapshot.layers,
        store.layers,
        labels=labels,
    )
    store.apply(change, sequence)
    return len(change.put)


def _labels(cards: Sequence[CardInfo]) -> dict[str, str]:
    """What a reader has to know of the cards that do not hold at all times, by id. It says until when and not whether
    that is over, so that it stays true as time goes by."""
    replaced = {card.id for card in cards if card.superseded_by}
    if any(card.supersedes for card in cards):
        resolver = LinkResolver(cards)
        named = ((card.id, resolver.resolve(name, source_id=card.id).id) for card in cards for name in card.supersedes)
        replaced.update(old for new, old in named if old is not None and old != new)
    labels = {}
    for card in cards:
        parts = ["superseded"] if card.id in replaced else []
        parts += [f"valid from {card.valid_from.date()}"] if card.valid_from is not None else []
        parts += [f"valid until {card.valid_until.date()}"] if card.valid_until is not None else []
        if parts:
            labels[card.id] = ", ".join(parts)
    return labels


def _state(card: CardInfo, summarizer: str) -> str:
    """Changes whenever the card's layers may: also when a model's take the place of extracted ones."""
    drafts = [problem.message for problem in card.problems if problem.code == SUMMARIZER_PROBLEM]
    return f"{card.hash} {summarizer} {' '.join(drafts)}"
