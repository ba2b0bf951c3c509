"""A card's file gets another name or folder, and every link that led to it goes along.

The cards that link are written first, one by one, and the file is moved last. A kill in between leaves the card where
it was; links that were written already wait for it, and the same call again finishes the work. A card whose own text
changes is written whole at its new place before the old file goes: then both are there, and the same call again takes
the old one away.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

from cogvault.cards.regular import read_regular
from cogvault.cards.writer import flush_folder, hash_of, rename_to_new, write_atomic
from cogvault.errors import CardError, CogvaultError, ConflictError
from cogvault.indexing.report import SyncReport
from cogvault.lifecycle.files import put_back, read_bytes, refuse_link, taken
from cogvault.lifecycle.renaming import Renaming, Rewritten
from cogvault.lifecycle.uris import Located, find, make_folder, place, uri_of
from cogvault.lifecycle.workspace import Workspace
from cogvault.types import Action, Card, CardInfo, Problem, WriteResult

__all__ = ["move"]

_TRIES = 3
_EXISTS_HINT = "choose another name, or forget that card first"


@dataclass(frozen=True, slots=True)
class _Done:
    """A linking card that was rewritten, and how to undo it."""

    card: Located
    before: bytes
    after: bytes
    links: int
    problems: tuple[Problem, ...]


def move(
    workspace: Workspace, renamed: Callable[[Iterable[tuple[str, str]]], None], text: str, new: str
) -> WriteResult:
    """Move a card.

    Args:
        workspace: the vault.
        renamed: takes (old, new) ids of a card that has another one now.
        text: id, path or address of the card.
        new: path or address of its new place, ending in ``.md``; or a folder, in which it keeps its name.

    Raises:
        PathError: one of the two can name nothing, or the first names no card.
        ConflictError: there is a file at the new place, or the card changed meanwhile.
        CardError: the card cannot be read or moved, or would not belong to the vault at its new place.
    """
    with workspace.writing():
        snapshot, report = workspace.latest()
        cards = snapshot.cards
        source = find(workspace, text, cards)
        refuse_link(source)
        target = place(workspace, new, source.file.name)
        data = read_bytes(source)
        if target.path == source.path:
            return WriteResult(source.id, Action.UNCHANGED, uri_of(workspace, source.id), hash_of(data))
        card = workspace.parser.parse(data, id=source.id, path=source.path)
        moved = workspace.parser.parse(data, id=target.id, path=target.path)
        renaming = Renaming(workspace.links, cards, source.id, moved)
        own = _own(renaming, data, card)
        _refuse_taken(source, target, data, own.data)
        done, problems = _rewrite_others(workspace, cards, renaming)
        problems = [*own.problems, *problems]
        try:
            make_folder(workspace, target)
            _transfer(source, target, data, own.data)
        except BaseException:
            for item in done:
                put_back(item.card.file, item.before, item.after)
            workspace.wrote([source.path, target.path, *(item.card.path for item in done)])
            raise
        renamed([(source.id, target.id)])
        workspace.wrote([source.path, target.path, *(item.card.path for item in done)])
        return WriteResult(
            target.id,
            Action.MOVED,
            uri_of(workspace, target.id),
            hash_of(own.data),
            links_rewritten=own.links + sum(item.links for item in done),
            problems=(*problems, *_unseen(report, {source.path, *(problem.path for problem in problems)})),
        )


def _own(renaming: Renaming, data: bytes, card: Card) -> Rewritten:
    """The card's own bytes at its new place; a file that cannot be edited is moved as it is, and its links are told."""
    try:
        return renaming.rewrite(data, card)
    except CardError as error:
        message = f"its links were not rewritten: {error.message}"
        return Rewritten(data, problems=(Problem(card.path, "link-not-rewritten", message, error.line, error.key),))


def _refuse_taken(source: Located, target: Located, data: bytes, own: bytes) -> None:
    """Refuse a place that has a file, unless it is what an earlier call, cut off, left there."""
    if not (target.file.exists() or target.file.is_symlink()):
        return
    try:
        if target.file.samefile(source.file) and not target.file.is_symlink():
            return
        if own != data and read_regular(target.file) == own:
            return
    except OSError:
        pass
    raise taken(target, "there is a file at the new place", _EXISTS_HINT)


def _rewrite_others(
    workspace: Workspace, cards: Sequence[CardInfo], renaming: Renaming
) -> tuple[list[_Done], list[Problem]]:
    """Bring the links of other cards along, each on its own: one that cannot be written stops no other."""
    done: list[_Done] = []
    problems: list[Problem] = []
    for info in renaming.concerned():
        try:
            item = _rewrite(workspace, cards, renaming, info)
        except CogvaultError as error:
            message = f"its links were not rewritten: {error.message}"
            problems.append(Problem(info.path, "link-not-rewritten", message, error.line, error.key))
            continue
        problems.extend(item.problems)
        if item.after != item.before:
            done.append(item)
    return done, problems


def _rewrite(workspace: Workspace, cards: Sequence[CardInfo], renaming: Renaming, info: CardInfo) -> _Done:
    located = find(workspace, info.id, cards)
    for attempt in range(1, _TRIES + 1):
        data = read_bytes(located)
        card = workspace.parser.parse(data, id=info.id, path=info.path)
        rewritten = renaming.rewrite(data, card)
        if rewritten.data != data:
            try:
                write_atomic(located.file, rewritten.data, expected_hash=hash_of(data))
            except ConflictError:
                if attempt == _TRIES:
                    raise
                continue  # an editor saved it this moment
        break
    return _Done(located, data, rewritten.data, rewritten.links, rewritten.problems)


def _transfer(source: Located, target: Located, data: bytes, own: bytes) -> None:
    try:
        if target.file.exists() and target.file.samefile(source.file):
            _one_name(source, target)
        elif own == data:
            rename_to_new(source.file, target.file)
        else:
            mode = stat.S_IMODE(source.file.stat().st_mode)
            if not target.file.exists():
                write_atomic(target.file, own, expected_hash=None)
            target.file.chmod(mode)
            _remove_unchanged(source, target, data)
        flush_folder(target.file.parent)
        flush_folder(source.file.parent)
    except FileExistsError as error:
        raise taken(target, "there is a file at the new place", _EXISTS_HINT) from error
    except OSError as error:
        raise CardError(f"cannot be moved: {error.strerror}", path=source.path) from error


def _one_name(source: Located, target: Located) -> None:
    """Both names lead to one file: only the case differs where that does not count, or an earlier call was cut off."""
    folder = source.file.parent
    if folder == target.file.parent and target.file.name not in (entry.name for entry in folder.iterdir()):
        source.file.rename(target.file)
    else:
        source.file.unlink()


def _remove_unchanged(source: Located, target: Located, data: bytes) -> None:
    """Take the old file away, or, if somebody saved it this moment, the new one."""
    if read_regular(source.file) != data:
        target.file.unlink()
        raise ConflictError("the card changed meanwhile", path=source.path, hint="move it again")
    try:
        source.file.unlink()
    except OSError:
        target.file.unlink()
        raise


def _unseen(report: SyncReport, told: Container[str]) -> list[Problem]:
    """Files that could not be read, so that nobody knows whether they link to the card; ``told`` are left out."""
    message = "it cannot be read; if it links to the card, that was not rewritten"
    unread = [problem.path for problem in report.failed]
    unread += [problem.path for problem in report.problems if problem.code == "unreadable"]
    return [Problem(path, "unreadable", message) for path in dict.fromkeys(unread) if path not in told]
