"""Writing into a vault: new cards, changes of cards, dialogues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from cogvault.lifecycle.record import Recorder
from cogvault.lifecycle.revise import Change, Reviser
from cogvault.lifecycle.sessions import Session, Sessions
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.types import CardLayers, Draft, Moment, WriteResult
from cogvault.types.arguments import check_arguments, checked_draft, checked_tags, checked_texts, each_draft

__all__ = ["Authoring"]


class Authoring:
    """That part of ``Vault``, which is one object to its users: a base class, as parts behind it would have to be
    declared, documented and kept equal twice. It has attributes of its own only, and calls nothing of its heir.

    Args:
        workspace: where it is written.
        known: what the index holds now, without waiting for what was just written.
        finalize: indexes everything and gives the layers of a folder.
    """

    def __init__(
        self, workspace: Workspace, known: Callable[[], Snapshot], finalize: Callable[[str], CardLayers]
    ) -> None:
        self._recorder = Recorder(workspace, known)
        self._reviser = Reviser(workspace, known)
        self._sessions = Sessions(workspace, finalize)

    def record(
        self,
        content: str,
        title: str | None = None,
        type: str | None = None,
        tags: Iterable[str] = (),
        *,
        description: str | None = None,
        to: str | None = None,
        importance: float | None = None,
        pinned: bool | None = None,
        valid_from: Moment = None,
        valid_until: Moment = None,
        source: str | None = None,
        meta: Mapping[str, object] | None = None,
        redact: bool = False,
    ) -> WriteResult:
        """Write one card; the fields are those of ``Draft``. A text that is stored already gives the card that has it.

        Raises:
            CardError: there is nothing to write, too much, or something that no card can hold.
            ConflictError: ``to`` names a card that exists.
            PathError: ``to`` names no place in the vault.
            QueryError: an argument is of the wrong type.
        """
        words = checked_tags(tags)
        draft = Draft(content, title, type, words, description, to, importance, pinned, valid_from, valid_until)
        return self._recorder.record(checked_draft(replace(draft, source=source, meta=meta, redact=redact)))

    def record_many(self, drafts: Iterable[Draft]) -> tuple[WriteResult, ...]:
        """Write cards, each on its own: one result an item, also for those that were refused.

        Raises:
            QueryError: they are no series of drafts; nothing was written.
        """
        return each_draft(drafts, checked_draft, self._recorder.record_many)

    def update(
        self,
        id: str,
        *,
        body: str | None = None,
        section: str | None = None,
        append: str | None = None,
        set: Mapping[str, object] | None = None,
        unset: Iterable[str] = (),
        base_hash: str | None = None,
        redact: bool = False,
    ) -> WriteResult:
        """Change a card, and nothing of it that is not named.

        Args:
            id: the card's id, path or address.
            body: new text of the body, or of ``section``; the card's own frontmatter in front of it is left out.
            section: a heading; with ``##`` in front its level counts too.
            append: text for the end of the body or section.
            set: frontmatter keys with new values.
            unset: frontmatter keys to take away; one key as text counts.
            base_hash: hash of the card that the change was made for; another one by now is a conflict.
            redact: mask what looks like a secret in the new text.

        Raises:
            PathError: the id names no card.
            ConflictError: the card is not the one that ``base_hash`` names.
            CardError: the change cannot be made without changing more; every byte is as it was.
            QueryError: an argument is of the wrong type.
        """
        check_arguments(id=id, body=body, section=section, append=append, set=set, base_hash=base_hash, redact=redact)
        keys = (unset,) if isinstance(unset, str) else checked_texts("unset", unset)
        return self._reviser.update(id, Change(body, section, append, set or {}, keys, redact), base_hash)

    def session(self, name: str) -> Session:
        """A dialogue, turn by turn, in ``session/<name>/timeline``; it begins with its first turn.

        Raises:
            PathError: the name cannot be that of a folder of the vault.
        """
        check_arguments(name=name)
        return self._sessions(name)

    def sessions(self) -> list[str]:
        """Names of the sessions that have turns, in order.

        Raises:
            VaultError: the vault's folder is away.
        """
        return self._sessions.names()
