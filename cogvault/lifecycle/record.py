"""Writing new cards: checked, compared with what is there, named, written once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from posixpath import dirname, join

from cogvault.cards.decoding import decode
from cogvault.cards.slugs import cut as slug_cut
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CogvaultError, ConflictError
from cogvault.lifecycle.drafting import MAX_STEM_BYTES, MAX_WRITE_BYTES, Drafted, draft_card
from cogvault.lifecycle.files import check_size, taken
from cogvault.lifecycle.folder_names import FolderNames
from cogvault.lifecycle.similar import SimilarCards, Similarity, Twin, memory_of
from cogvault.lifecycle.uris import Located, make_folder, place, uri_of
from cogvault.lifecycle.values import moment_text, unread_keys
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.text.likeness import print_of
from cogvault.text.normalise import fold
from cogvault.text.secrets import found_in
from cogvault.types import Action, Draft, Problem, WriteResult
from cogvault.types.writes import refused

__all__ = ["Recorder"]

_SUFFIX = ".md"
# Cards of one name; past this the folder has another problem.
_MAX_SAME_NAME = 10_000
# New files of other programs that are compared before a write; of more the index tells, as soon as it has them.
_MAX_APPEARED = 200


class Recorder:
    """Writes new cards into one vault. Safe to share between threads.

    Args:
        workspace: the vault.
        known: what the index holds now, without waiting for what was just written.
    """

    def __init__(self, workspace: Workspace, known: Callable[[], Snapshot]) -> None:
        self._workspace = workspace
        self._similar = SimilarCards(workspace, known)
        self._names = FolderNames()

    def record(self, draft: Draft) -> WriteResult:
        """Write one card; see ``Vault.record``.

        Raises:
            CardError: there is nothing to write, too much, or something that no card can hold.
            PathError: ``to`` names no place in the vault.
            VaultError: another writer did not end in time.
        """
        now = moment_text(self._workspace.clock(), "created")
        assert now is not None
        max_bytes = min(MAX_WRITE_BYTES, self._workspace.config.max_card_bytes)
        drafted = draft_card(draft, self._workspace.parser, now, max_bytes)
        drafted = replace(drafted, stem=_storable(drafted.stem))
        first = place(self._workspace, draft.to or "", f"{drafted.stem}{_SUFFIX}")
        words, length, memory = print_of(drafted.body), len(drafted.body), memory_of(first.id)
        similarity = self._similar.look(drafted.body, words, memory)
        if similarity.same is not None:
            return self._existing(similarity.same, draft, drafted, first)
        with self._workspace.writing():
            if (same := self._similar.twin(None, words, length, memory)) is not None:
                return self._existing(same, draft, drafted, first)
            names = self._names.look(first.file.parent, lambda: self._similar.names_in(dirname(first.path)))
            for name in names.appeared[:_MAX_APPEARED]:
                if (same := self._similar.appeared(join(dirname(first.path), name), words, length)) is not None:
                    return self._existing(same, draft, drafted, first)
            others = frozenset() if _is_named(draft) else names.clashing  # a name that the caller chose is his
            for placed, name in self._places(draft, drafted, first):
                if (same := self._similar.twin(placed.id, words, length, memory)) is not None:
                    return self._existing(same, draft, drafted, first)
                if os.path.lexists(placed.file) or fold(placed.file.name) in others:
                    continue
                data = drafted.with_name(name)
                check_size(data, self._workspace.config)
                make_folder(self._workspace, placed)
                try:
                    write_atomic(placed.file, data, expected_hash=None)
                except ConflictError:  # another program took the name just now
                    continue
                self._similar.remember(placed.id, words)
                self._names.wrote(placed.file)
                break
            else:
                hint = "use update to change it, or another name"
                raise taken(first, "a card with this name exists", hint)
        self._workspace.wrote([placed.path])
        return self._created(placed, data, drafted, similarity)

    def record_many(self, drafts: Iterable[Draft]) -> tuple[WriteResult, ...]:
        """Write cards, each on its own; one that is refused tells why in its result, and the others are written."""
        return tuple(self._tried(draft) for draft in drafts)

    def _tried(self, draft: Draft) -> WriteResult:
        try:
            return self.record(draft)
        except CogvaultError as error:
            return refused(error)

    def _places(self, draft: Draft, drafted: Drafted, first: Located) -> Iterator[tuple[Located, str]]:
        """Places that the card may have, best first, and its ``name`` there; one only when the caller named a file."""
        if _is_named(draft):
            yield first, first.file.name[: -len(_SUFFIX)]
            return
        yield first, _name(drafted.stem)
        for number in range(2, _MAX_SAME_NAME):
            stem = _numbered(drafted.stem, number)
            yield place(self._workspace, draft.to or "", f"{stem}{_SUFFIX}"), _name(stem)

    def _existing(self, same: Twin, draft: Draft, drafted: Drafted, wanted: Located) -> WriteResult:
        problems = list(drafted.not_in(same.card))
        is_there = same.id == wanted.id if _is_named(draft) else dirname(same.id) == dirname(wanted.id)
        if draft.to is not None and not is_there:
            message = "the text is stored already, here: move it if it should be elsewhere"
            problems.append(Problem(same.card.path, "argument-not-written", message, key="to"))
        uri = uri_of(self._workspace, same.id)
        return WriteResult(same.id, Action.EXISTING, uri, same.hash, problems=tuple(problems))

    def _created(self, placed: Located, data: bytes, drafted: Drafted, similarity: Similarity) -> WriteResult:
        problems = (replace(problem, path=placed.path) for problem in drafted.problems)
        return WriteResult(
            placed.id,
            Action.CREATED,
            uri_of(self._workspace, placed.id),
            hash_of(data),
            similarity.near,
            found_in(decode(data).text),
            problems=(*problems, *unread_keys(placed.path, drafted.said)),
        )


def _is_named(draft: Draft) -> bool:
    return (draft.to or "").lower().endswith(_SUFFIX)


def _storable(stem: str) -> str:
    """The stem, or one of ASCII where this system's file names can hold no other letters."""
    try:
        os.fsencode(stem)
    except UnicodeEncodeError:
        return f"card_{hash_of(stem.encode())[:8]}"
    return stem


def _name(stem: str) -> str:
    """What stands behind the type."""
    return stem.partition("_")[2]


def _numbered(stem: str, number: int) -> str:
    """The stem with a number behind it, no longer than it may be."""
    ending = f"-{number}"
    return slug_cut(stem, MAX_STEM_BYTES - len(ending)) + ending
