"""A vault that a daemon serves, with ``Vault``'s interface and types."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cogvault import __version__, types
from cogvault.client.calls import Calls
from cogvault.client.connection import HELLO_PATH, Connection, NobodyListens
from cogvault.client.endpoint import Endpoint, endpoints
from cogvault.client.parts import RemoteLayers, RemoteSession
from cogvault.client.question import question
from cogvault.client.wire import from_json, frontmatter, sendable, to_wire
from cogvault.errors import CogvaultError, DaemonError
from cogvault.types.arguments import check_arguments, checked_texts, each_draft

if TYPE_CHECKING:
    from cogvault.indexing.report import SyncProgress, SyncReport
    from cogvault.retrieval.hits import Hits
    from cogvault.retrieval.request import Names, When
    from cogvault.types import (
        ArchivedCard,
        CardInfo,
        CardStrength,
        CardText,
        Draft,
        FactVersion,
        Folder,
        ListedCard,
        SweepReport,
        VaultStatus,
        WriteResult,
    )
    from cogvault.types.writes import Moment

__all__ = ["RemoteVault", "connect"]

_PREFIX = "COGVAULT_"
# A daemon that does not even say who it is in this time is not waited for.
HELLO_SECONDS = 2.0


def connect(
    path: str | os.PathLike[str],
    settings: Mapping[str, Any] | None = None,
    *,
    endpoint: Endpoint | None = None,
    environment: Mapping[str, str] | None = None,
) -> RemoteVault | None:
    """The vault of this folder as the daemon serves it.

    Args:
        path: the vault's folder.
        settings: fields of ``Config`` that were set explicitly.
        endpoint: where the daemon is; None = this user's.
        environment: variables of the asker; None = those of this process.

    Returns:
        None when no daemon is there.

    Raises:
        DaemonError: one is there, but of another version or with other settings, or it does not answer.
        VaultError: the daemon cannot open the vault.
    """
    variables = os.environ if environment is None else environment
    body = {
        "tenant": str(Path(path).expanduser().absolute()),
        "settings": {name: to_wire(value) for name, value in (settings or {}).items()},
        "environment": {name: value for name, value in variables.items() if name.startswith(_PREFIX)},
    }
    for one in endpoints(variables) if endpoint is None else [endpoint]:
        connection = Connection(one)
        connection.greet = partial(_greet, connection, body)
        try:
            return RemoteVault(_greet(connection, body), connection)
        except NobodyListens:  # what a daemon that crashed left behind
            if endpoint is not None:
                raise
        except CogvaultError:
            connection.close()
            raise
    return None


def _greet(connection: Connection, body: dict[str, Any]) -> Path:
    """Make sure that the daemon is of this version and has the vault with these settings; the vault's real folder."""
    hello = connection.call(HELLO_PATH, repeatable=True, timeout_seconds=HELLO_SECONDS)
    version = hello.get("version") if isinstance(hello, dict) else None
    if version != __version__:
        hint = "restart it: cogvault daemon --stop, then cogvault daemon"
        told = f"the daemon is cogvault {version}, this is {__version__}"
        raise DaemonError(told, path=str(connection.endpoint), hint=hint)
    folder = Path(connection.call("/v1/open", body, repeatable=True)["tenant"])
    connection.daemon = str(hello.get("instance", ""))
    return folder


class RemoteVault:
    """A vault of the daemon. Methods, arguments, results and errors are those of ``Vault``, but for watching, which the
    daemon does by itself.

    Safe to share between threads.

    Args:
        path: the vault's real folder.
        connection: to the daemon.
    """

    def __init__(self, path: Path, connection: Connection) -> None:
        self.path = path
        self._calls = Calls(path, connection)
        self.layers = RemoteLayers(self._calls)

    def __enter__(self) -> RemoteVault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteVault({str(self.path)!r})"

    def close(self) -> None:
        """Close the connections; the daemon's vault stays open."""
        self._calls.close()

    def sync(self, *, verify: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> SyncReport:
        """As ``Vault.sync``; its progress is told as far as ``status`` shows it."""
        from cogvault.indexing.report import SyncReport

        if progress is None:
            return self._calls("sync", SyncReport, verify=verify)
        from cogvault.client.progress import told_meanwhile

        return told_meanwhile(lambda: self._calls("sync", SyncReport, verify=verify), self.status, progress)

    reindex = sync

    def search(
        self,
        query: str,
        k: int | None = None,
        *,
        type: Names = None,
        tags: Names = None,
        path: str | None = None,
        after: When = None,
        before: When = None,
        as_of: When = None,
        where: Mapping[str, object] | None = None,
        min_score: float | None = None,
        budget_tokens: int | None = None,
        layer: str = "auto",
        session_seen: Iterable[str] = (),
        explain: bool = False,
        sync: bool = True,
    ) -> Hits:
        """As ``Vault.search``."""
        from cogvault.retrieval.hits import Hits

        arguments: dict[str, Any] = dict(
            query=query,
            k=k,
            type=type,
            tags=tags,
            path=path,
            after=after,
            before=before,
            as_of=as_of,
            where=where,
            min_score=min_score,
            budget_tokens=budget_tokens,
            layer=layer,
            session_seen=session_seen,
            explain=explain,
            sync=sync,
        )
        document = self._calls.ask("search", question(arguments))
        return from_json(Hits, {**document, "items": document["hits"]})

    def read(self, id: str, lines: tuple[int, int] | None = None) -> CardText:
        """As ``Vault.read``."""
        return self._calls("read", types.CardText, id=id, lines=lines)

    def cards(self) -> Sequence[CardInfo]:
        """As ``Vault.cards``."""
        return self._calls("cards", tuple[types.CardInfo, ...])

    def status(self) -> VaultStatus:
        """As ``Vault.status``."""
        return self._calls("status", types.VaultStatus)

    def list(self, prefix: str = "", *, after: str = "", limit: int | None = None) -> tuple[ListedCard, ...]:
        """As ``Vault.list``."""
        return self._calls("list", tuple[types.ListedCard, ...], prefix=prefix, after=after, limit=limit)

    def tree(self, prefix: str = "") -> Folder:
        """As ``Vault.tree``."""
        return self._calls("tree", types.Folder, prefix=prefix)

    def history(self, id: str) -> tuple[FactVersion, ...]:
        """As ``Vault.history``."""
        return self._calls("history", tuple[types.FactVersion, ...], id=id)

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
        """As ``Vault.record``."""
        check_arguments(valid_from=valid_from, valid_until=valid_until, meta=meta)
        checked = frontmatter({"importance": importance, "valid_from": valid_from, "valid_until": valid_until})
        return self._calls(
            "record",
            types.WriteResult,
            content=content,
            title=title,
            type=type,
            tags=tags.split(",") if isinstance(tags, str) else checked_texts("tags", tags),
            description=description,
            to=to,
            pinned=pinned,
            source=source,
            meta=frontmatter(meta),
            redact=redact,
            **checked,
        )

    def record_many(self, drafts: Iterable[Draft]) -> tuple[WriteResult, ...]:
        """As ``Vault.record_many``."""
        return each_draft(
            drafts,
            sendable,
            lambda checked: self._calls("record_many", tuple[types.WriteResult, ...], drafts=checked),
        )

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
        """As ``Vault.update``."""
        check_arguments(set=set)
        return self._calls(
            "update",
            types.WriteResult,
            id=id,
            body=body,
            section=section,
            append=append,
            set=frontmatter(set),
            unset=[unset] if isinstance(unset, str) else checked_texts("unset", unset),
            base_hash=base_hash,
            redact=redact,
        )

    def supersede(self, old: str, new: str) -> WriteResult:
        """As ``Vault.supersede``."""
        return self._calls("supersede", types.WriteResult, old=old, new=new)

    def move(self, id: str, new: str) -> WriteResult:
        """As ``Vault.move``."""
        return self._calls("move", types.WriteResult, id=id, new=new)

    def forget(self, id: str, *, purge: bool = False) -> WriteResult:
        """As ``Vault.forget``."""
        return self._calls("forget", types.WriteResult, id=id, purge=purge)

    def archived(self) -> tuple[ArchivedCard, ...]:
        """As ``Vault.archived``."""
        return self._calls("archived", tuple[types.ArchivedCard, ...])

    def restore(self, id: str, version: int | None = None) -> WriteResult:
        """As ``Vault.restore``."""
        return self._calls("restore", types.WriteResult, id=id, version=version)

    def purge(self, id: str, version: int | None = None) -> WriteResult:
        """As ``Vault.purge``."""
        return self._calls("purge", types.WriteResult, id=id, version=version)

    def strength(self, id: str) -> CardStrength:
        """As ``Vault.strength``."""
        return self._calls("strength", types.CardStrength, id=id)

    def strengths(self) -> tuple[CardStrength, ...]:
        """As ``Vault.strengths``."""
        return self._calls("strengths", tuple[types.CardStrength, ...])

    def sweep(self, *, apply: bool = False, purge: bool = False) -> SweepReport:
        """As ``Vault.sweep``."""
        return self._calls("sweep", types.SweepReport, apply=apply, purge=purge)

    def session(self, name: str) -> RemoteSession:
        """As ``Vault.session``."""
        known: dict[str, str] = self._calls("session", dict[str, str], name=name)
        return RemoteSession(self._calls, known["name"], known["folder"], known["uri"])

    def sessions(self) -> builtins.list[str]:
        """As ``Vault.sessions``."""
        return self._calls("sessions", builtins.list[str])
