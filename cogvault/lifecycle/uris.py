"""What a text that names a card or a place means in a vault: the one resolver that every writer asks (promise 8).

The grammar of ids, paths and addresses is that of ``cards.addresses``; here the vault's cards and folders decide what
is meant. Whatever is refused is refused with the same words, so that nobody learns what exists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from cogvault.cards.addresses import card_uri, is_address, paths_of
from cogvault.cards.paths import is_portable_name, refusal, resolve_inside
from cogvault.errors import CardError, PathError
from cogvault.indexing.locate import Located, locate
from cogvault.indexing.scan import is_card_path
from cogvault.lifecycle.workspace import Workspace
from cogvault.text.normalise import nfc
from cogvault.types import CardInfo

__all__ = ["Located", "find", "make_folder", "place", "uri_of"]

_SUFFIX = ".md"
_PLACE_HINT = "name a place below the vault's folder, not hidden, to which no symbolic link leads that ends outside"
_PORTABLE_HINT = 'leave out < > : " | ? *, which files cannot have in their names on every system'


def find(workspace: Workspace, text: str, cards: Sequence[CardInfo] | None = None) -> Located:
    """The card that an id, its path on disk or its address names.

    Args:
        workspace: the vault.
        text: the name.
        cards: what an index knows, ordered by id; it may lag behind the files, which are looked at too. None = what it
            knows once all that was written is in it.

    Raises:
        PathError: there is none; the refusal does not say what exists.
    """
    known = workspace.fresh().cards if cards is None else cards
    found = locate(workspace.root, workspace.scan, known, text)
    if not found.file.is_file():
        raise refusal(text)
    return found


def place(workspace: Workspace, text: str, name: str, *, is_new: bool = True) -> Located:
    """Where a card goes. Nothing is made, and whether a card is there already is not looked at.

    Of the two folders that ``cogvault://resources/…`` may mean, the one that exists is taken, ``resources`` first.

    Args:
        workspace: the vault.
        text: path or address of the card, ending in ``.md``, or of a folder; "" = the vault's root.
        name: file name in a folder, with ``.md``.
        is_new: somebody thought of the place, and only names that files can have on every system will do, or the file
            name that there is. False = a card was there.

    Returns:
        Id, path and file of the new card. Folders that exist under another normal form keep their names on disk.

    Raises:
        PathError: the text or the name can name nothing in the vault.
        CardError: a card at this place would not be found: its folder is not walked, or the place is ignored.
    """
    try:
        paths = paths_of(_whole(text, name))
    except PathError as error:
        raise refusal(text or name, _PLACE_HINT) from error
    if is_new and not all(is_portable_name(part) for part in paths[0].split("/") if part != name):
        raise refusal(text, _PORTABLE_HINT)
    files = [_inside(workspace.root, path, text) for path in paths]
    chosen = next((number for number, file in enumerate(files) if file.parent.is_dir()), 0)
    path = _as_on_disk(workspace.root, paths[chosen])
    if not is_card_path(workspace.root, workspace.scan, path):
        raise CardError(
            "a card at this place would not belong to the vault: its folder is not walked, or the place is ignored",
            path=path,
            hint="set recursive for folders other than session, user, agent and resources, or look at the patterns; "
            "an ignore file that cannot be read counts for all",
        )
    return Located(nfc(path), path, _inside(workspace.root, path, text))


def make_folder(workspace: Workspace, placed: Located) -> None:
    """Make the folders of a new card's place.

    Raises:
        CardError: they cannot be made.
    """
    try:
        placed.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CardError(f"the folder of the card cannot be made: {error.strerror}", path=placed.path) from error


def uri_of(workspace: Workspace, id: str) -> str:
    """The ``cogvault://`` address of a card. Asks the files, so that a write need not wait for the index."""

    def is_card(other: str) -> bool:
        return (workspace.root / other).is_file() and is_card_path(workspace.root, workspace.scan, other)

    return card_uri(id, is_card)


def _whole(text: str, name: str) -> str:
    """The text of a folder with the name of a card in it."""
    if text in ("", ".", "./"):
        return name
    if text.lower().endswith(_SUFFIX):
        return text
    folder = text.removesuffix("/")
    return f"{folder}/{quote(name, safe='') if is_address(text) else name}"


def _inside(root: Path, path: str, text: str) -> Path:
    try:
        return resolve_inside(root, path)
    except PathError as error:
        raise refusal(text, _PLACE_HINT) from error


def _as_on_disk(root: Path, path: str) -> str:
    """The path with the names that its folders, and the card, have on disk already under another normal form."""
    if path.isascii():
        return path
    found = ""
    for name in path.split("/"):
        found += ("/" if found else "") + _twin(root / found, name)
    return found


def _twin(folder: Path, name: str) -> str:
    if name.isascii() or os.path.lexists(folder / name):
        return name
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return name
    return next((other for other in names if nfc(other) == nfc(name)), name)
