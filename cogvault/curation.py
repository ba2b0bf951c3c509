"""A vault's cards as a collection that is kept: looked through, corrected, moved, retired, brought back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cogvault.engine import Engine
from cogvault.lifecycle import archive, facts
from cogvault.lifecycle.listing import list_cards, tree_of
from cogvault.lifecycle.move import move
from cogvault.lifecycle.sweep import Forgetting
from cogvault.lifecycle.usage import Usage
from cogvault.lifecycle.workspace import Workspace
from cogvault.types import (
    ArchivedCard,
    CardStrength,
    FactVersion,
    Folder,
    ListedCard,
    Problem,
    SweepReport,
    WriteResult,
)
from cogvault.types.arguments import check_arguments

__all__ = ["Curation"]


class Curation:
    """That part of ``Vault``; a base class for the reason that ``Authoring`` is one. It sets what it needs, and calls
    nothing of its heir. A card is named by its id, its path on disk or its ``cogvault://`` address.

    Args:
        engine: of the vault.
        workspace: where it is written.
        usage: uses of its cards, which follow them.
        remake: makes exported layers anew after the card with this id is gone for good; what it could not.
    """

    def __init__(
        self,
        engine: Engine,
        workspace: Workspace,
        usage: Usage,
        remake: Callable[[str], tuple[Problem, ...]],
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._usage = usage
        self._remake = remake
        self._forgetting = Forgetting(workspace, usage, self.forget, self._purge_swept)

    def list(self, prefix: str = "", *, after: str = "", limit: int | None = None) -> tuple[ListedCard, ...]:
        """The cards below a folder or the beginning of an address, ordered by id.

        Changed files are looked for first, at most every ``config.refresh_seconds``.

        Args:
            prefix: folder, or the beginning of an address; "" = the whole vault.
            after: begin behind this id, such as the last one of the page before.
            limit: cards at most; None = all.

        Raises:
            PathError: the prefix can name nothing in a vault.
            QueryError: the limit is below 1.
            VaultError: the vault's folder is away, or another sync that the list needs did not end in time.
            IndexFault: the index is not complete, and cannot be written.
        """
        check_arguments(prefix=prefix, after=after, limit=limit)
        cards, links = self._engine.certain().cards, self._workspace.links
        return list_cards(cards, links, prefix, self._workspace.clock(), after, limit)

    def tree(self, prefix: str = "") -> Folder:
        """The same cards, as folders from the vault down. Raises as ``list``."""
        return tree_of(self.list(prefix))

    def history(self, id: str) -> tuple[FactVersion, ...]:
        """All versions of the fact that a card tells, oldest first: what it superseded, and what superseded it.

        Changed files are looked for first, at most every ``config.refresh_seconds``.

        Raises:
            PathError: the id names no card.
        """
        check_arguments(id=id)
        return facts.history(self._workspace, self._engine.certain().cards, id)

    def supersede(self, old: str, new: str) -> WriteResult:
        """Say that one card takes the place of another, which is kept and is valid until the new one is.

        ``supersedes`` is written into the new one, ``superseded_by`` and ``valid_until`` into the old one: the
        ``valid_from`` of the new one, else its ``created``, else now. Saying it again changes nothing.

        Returns:
            The result for the old card.

        Raises:
            PathError: one of the two names no card.
            CardError: both are one card, the new one was superseded by the old one, or one cannot be edited.
        """
        check_arguments(old=old, new=new)
        return facts.supersede(self._workspace, self._engine.certain, old, new)

    def move(self, id: str, new: str) -> WriteResult:
        """Give a card another name or folder. Every link that led to it leads to it afterwards.

        Args:
            id: the card.
            new: path or address of its place, ending in ``.md``; or a folder, in which it keeps its name.

        Raises:
            PathError: one of the two can name nothing, or the first names no card.
            ConflictError: there is a file at the new place.
            CardError: the card cannot be moved, or would not belong to the vault there.
        """
        check_arguments(id=id, new=new)
        return move(self._workspace, self._usage.move, id, new)

    def forget(self, id: str, *, purge: bool = False) -> WriteResult:
        """Move a card to the archive, out of search; or delete it for good.

        Args:
            id: the card.
            purge: delete it with its rows, vectors and cached texts; copies in the archive stay. Exported abstracts and
                overviews are made anew; a person's text in them stays, and ``WriteResult.problems`` names its file.

        Raises:
            PathError: the id names no card.
            CardError: the card cannot be moved or deleted.
            QueryError: an argument is of the wrong type.
        """
        check_arguments(id=id, purge=purge)
        if purge:
            return self._gone(archive.purge(self._workspace, self._usage.drop, id))
        return archive.forget(self._workspace, self._engine.known().cards, id)

    def archived(self) -> tuple[ArchivedCard, ...]:
        """The cards in the archive, ordered by id and version.

        Raises:
            VaultError: the vault's folder is away.
        """
        return archive.archived(self._workspace)

    def restore(self, id: str, version: int | None = None) -> WriteResult:
        """Move a card from the archive back to where it was, byte for byte.

        Args:
            id: the card that it was.
            version: which of several of this id; None = the last that was archived.

        Raises:
            PathError: nothing of this name is in the archive.
            ConflictError: a card is at its place again; it is never replaced.
            CardError: the card cannot be moved.
        """
        check_arguments(id=id, version=version)
        result = archive.restore(self._workspace, id, version)
        self._usage.count([result.id])  # or the next sweep would take it away again
        return result

    def purge(self, id: str, version: int | None = None) -> WriteResult:
        """Delete what is in the archive for good: all cards that had this id, or one of them.

        Raises:
            PathError: nothing of this name is in the archive.
            CardError: a file cannot be deleted.
        """
        check_arguments(id=id, version=version)
        return self._gone(archive.purge_archived(self._workspace, self._usage.drop, id, version))

    def strength(self, id: str) -> CardStrength:
        """How strong the memory of a card is, from its importance, its uses, and the time since the last one.

        Raises:
            PathError: the id names no card.
        """
        check_arguments(id=id)
        return self._forgetting.strength(id)

    def strengths(self) -> tuple[CardStrength, ...]:
        """The same of every card, weakest first."""
        return self._forgetting.strengths()

    def sweep(self, *, apply: bool = False, purge: bool = False) -> SweepReport:
        """Judge which cards are to be forgotten; only ``apply`` archives them.

        Pinned, evergreen and young cards never go.

        Args:
            apply: archive the weak ones; False changes nothing.
            purge: with ``apply``, delete the weak ones for good instead.

        Raises:
            ConfigError: ``purge``, but ``forgetting_archive_before_delete`` is on.
            QueryError: an argument is of the wrong type.
            VaultError: the vault's folder is away.
        """
        check_arguments(apply=apply, purge=purge)
        return self._forgetting.sweep(apply=apply, purge=purge)

    def _purge_swept(self, id: str) -> WriteResult:
        return self._gone(archive.purge(self._workspace, self._usage.drop, id, clear=False))

    def _gone(self, result: WriteResult) -> WriteResult:
        return replace(result, problems=(*result.problems, *self._remake(result.id)))

    def _sweep_by_schedule(self) -> None:
        self._forgetting.sweep_by_schedule()
