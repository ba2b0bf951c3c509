"""Forgetting a card and getting it back: the archive in the vault, out of search, with paths and bytes as they were.

A card goes from ``notes/a.md`` to ``.archive/notes/a.md``; should one of this id be there already, to
``.archive/.2/notes/a.md`` and so on, which is no path that a card can have. Only names change: a file that comes back
has the bytes, the times and the rights that it had.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cogvault.cards.addresses import paths_of
from cogvault.cards.paths import is_usable_name, refusal
from cogvault.cards.regular import read_regular
from cogvault.cards.writer import flush_folder, hash_of, rename_to_new
from cogvault.errors import CardError, CogvaultError, ConflictError, PathError
from cogvault.indexing.scan import root_id
from cogvault.lifecycle.files import refuse_link, taken
from cogvault.lifecycle.uris import Located, find, make_folder, place, uri_of
from cogvault.lifecycle.workspace import Workspace
from cogvault.text.normalise import nfc
from cogvault.types import Action, ArchivedCard, CardInfo, WriteResult

__all__ = ["archived", "forget", "purge", "purge_archived", "restore"]

_ARCHIVE = ".archive"
_SUFFIX = ".md"
_LATER = re.compile(r"\.([1-9][0-9]{0,8})")

Dropped = Callable[[Iterable[str]], None]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file of the archive; ``path`` is the one that the card had."""

    path: str
    version: int
    file: Path


def archived(workspace: Workspace) -> tuple[ArchivedCard, ...]:
    """What is in the archive, ordered by id and version.

    Raises:
        VaultError: the vault's folder is away.
    """
    root_id(workspace.root)
    found = []
    for kept in _all(workspace.root):
        try:
            status = kept.file.stat()
        except OSError:  # restored or purged this moment
            continue
        inner = kept.file.relative_to(workspace.root.resolve()).as_posix()
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        found.append(ArchivedCard(nfc(kept.path), kept.version, inner, modified, status.st_size))
    return tuple(sorted(found, key=lambda card: (card.id, card.version)))


def forget(workspace: Workspace, cards: Sequence[CardInfo], text: str) -> WriteResult:
    """Move a card to the archive.

    Args:
        workspace: the vault.
        cards: what the index knows, ordered by id; it may lag behind, so that many can be moved without waiting for it.
        text: id, path or address of the card.

    Raises:
        PathError: it names no card.
        CardError: the card cannot be moved.
    """
    with workspace.writing():
        card = find(workspace, text, cards)
        refuse_link(card)
        uri = uri_of(workspace, card.id)
        known = [kept for kept in _all(workspace.root) if nfc(kept.path) == nfc(card.id)]  # twins share their versions
        with _moving(card):
            if any(kept.file.samefile(card.file) for kept in known):
                card.file.unlink()  # an earlier call was cut off between the two names
            else:
                version = 1 + max((kept.version for kept in known), default=0)
                file = _folder(workspace.root, version) / card.path
                _make_inside(workspace.root, file.parent)
                rename_to_new(card.file, file)
                flush_folder(file.parent)
            flush_folder(card.file.parent)
        workspace.wrote([card.path])
        return WriteResult(card.id, Action.ARCHIVED, uri)


def restore(workspace: Workspace, text: str, version: int | None = None) -> WriteResult:
    """Move a card from the archive back to where it was.

    Args:
        workspace: the vault.
        text: id, path or address that the card had.
        version: which of several; None = the last that was archived.

    Raises:
        PathError: nothing of this name is in the archive.
        ConflictError: a card is there again; it is never replaced.
        CardError: the card cannot be moved.
    """
    with workspace.writing():
        kept = _versions(workspace, text, version)[-1]
        card = place(workspace, kept.path, "", is_new=False)
        if card.file.is_symlink() or (card.file.exists() and not card.file.samefile(kept.file)):
            hint = "move or forget that card first"
            raise taken(card, "there is a card at its place again", hint)
        make_folder(workspace, card)
        with _moving(card):
            data = read_regular(kept.file)
            if card.file.exists():
                kept.file.unlink()  # an earlier call was cut off between the two names
            else:
                rename_to_new(kept.file, card.file)
            flush_folder(card.file.parent)
        _remove_empty(workspace.root, kept.file.parent)
        workspace.wrote([card.path])
        return WriteResult(card.id, Action.RESTORED, uri_of(workspace, card.id), hash_of(data))


def purge(workspace: Workspace, dropped: Dropped, text: str, *, clear: bool = True) -> WriteResult:
    """Delete a card for good: file, index rows, vectors, and what is kept of it in caches.

    Args:
        workspace: the vault.
        dropped: takes the ids of cards that are gone for good.
        text: id, path or address of the card.
        clear: take away what killed writers left, too, which may hold its text; False = whoever purges many did it.

    Raises:
        PathError: it names no card.
        CardError: the card cannot be deleted.
    """
    with workspace.writing():
        card = find(workspace, text)
        refuse_link(card)
        uri = uri_of(workspace, card.id)
        if clear:
            workspace.clear_leftovers()
        _delete(workspace, card.file, card.id, card.path)
        if not any(nfc(kept.path) == nfc(card.id) for kept in _all(workspace.root)):
            dropped([card.id])
        _forget_rows(workspace, card.path)
        return WriteResult(card.id, Action.PURGED, uri)


def purge_archived(workspace: Workspace, dropped: Dropped, text: str, version: int | None = None) -> WriteResult:
    """Delete from the archive for good.

    Args:
        workspace: the vault.
        dropped: takes the ids of cards that are gone for good.
        text: id, path or address that the card had.
        version: which of several; None = all of them.

    Raises:
        PathError: nothing of this name is in the archive.
        CardError: a file cannot be deleted.
    """
    with workspace.writing():
        chosen = _versions(workspace, text, version)
        id = nfc(chosen[0].path)
        workspace.clear_leftovers()
        for kept in chosen:
            _delete(workspace, kept.file, id, kept.path)
            _remove_empty(workspace.root, kept.file.parent)
        left = any(nfc(kept.path) == id for kept in _all(workspace.root))
        if not left and not (workspace.root / chosen[0].path).exists():
            dropped([id])
        _forget_rows(workspace, chosen[0].path)  # of a card that was archived and that nobody asked for since
        return WriteResult(id, Action.PURGED, uri_of(workspace, id))


def _forget_rows(workspace: Workspace, path: str) -> None:
    """Have the index look at where a card was; or its rows would be there until somebody asks for something."""
    workspace.wrote([path])
    with contextlib.suppress(CogvaultError):  # the file is gone, and its rows go as soon as they can
        workspace.fresh()


def _versions(workspace: Workspace, text: str, version: int | None) -> list[_Kept]:
    """Files of the archive with this name, oldest first, never none."""
    everything = list(_all(workspace.root))
    for path in paths_of(text):
        known = sorted((kept for kept in everything if nfc(kept.path) == nfc(path)), key=lambda kept: kept.version)
        if found := [kept for kept in known if version in (None, kept.version)]:
            return found
        if known:
            versions = ", ".join(str(kept.version) for kept in known)
            raise PathError(f"the archive has no version {version} of it", path=path, hint=f"it has {versions}")
    raise refusal(text)


def _all(root: Path) -> Iterator[_Kept]:
    base = root.resolve() / _ARCHIVE
    if base.is_symlink():
        return
    for folder, folders, names in os.walk(base):
        inner = Path(folder).relative_to(base).parts
        later = _LATER.fullmatch(inner[0]) if inner else None
        parts = inner[1:] if later else inner
        folders[:] = sorted(name for name in folders if is_usable_name(name) or (not inner and _LATER.fullmatch(name)))
        for name in names:
            file = Path(folder, name)
            if name.lower().endswith(_SUFFIX) and is_usable_name(name) and not file.is_symlink():
                yield _Kept("/".join((*parts, name)), int(later[1]) if later else 1, file)


def _folder(root: Path, version: int) -> Path:
    base = root.resolve() / _ARCHIVE
    return base if version == 1 else base / f".{version}"


def _make_inside(root: Path, folder: Path) -> None:
    """Make a folder of the archive.

    Raises:
        CardError: a symbolic link leads out of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if folder.resolve() != folder:
        raise CardError("a symbolic link is in the place of the archive", path=_ARCHIVE, hint="take the link away")


@contextlib.contextmanager
def _moving(card: Located) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise ConflictError("a file came in the way this moment", path=card.path, hint="try again") from error
    except OSError as error:
        raise CardError(f"cannot be moved: {error.strerror}", path=card.path) from error


def _delete(workspace: Workspace, file: Path, id: str, path: str) -> None:
    try:
        data = read_regular(file)
        file.unlink()
        flush_folder(file.parent)
    except OSError as error:
        raise CardError(f"cannot be deleted: {error.strerror}", path=path) from error
    workspace.forget_text(workspace.parser.parse(data, id=id, path=path))


def _remove_empty(root: Path, folder: Path) -> None:
    """Remove folders of the archive that are empty now, and the archive itself."""
    top = root.resolve()
    with contextlib.suppress(OSError):  # it is not empty
        while folder != top:
            folder.rmdir()
            folder = folder.parent
