"""A vault that a daemon serves, with ``Vault``'s interface and types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from cogvault import __version__
from cogvault.client.connection import Connection
from cogvault.client.endpoint import Endpoint, endpoints
from cogvault.client.wire import from_json
from cogvault.errors import DaemonError
from cogvault.types import (
    ArchivedCard,
    CardInfo,
    CardLayers,
    CardText,
    Draft,
    FactVersion,
    Folder,
    JsonValue,
    ListedCard,
    Turn,
    VaultStatus,
    WriteResult,
    to_json,
)

if TYPE_CHECKING:
    from cogvault.indexing.report import SyncProgress, SyncReport
    from cogvault.retrieval.hits import Hits
    from cogvault.retrieval.request import Names, When
    from cogvault.types.writes import Moment

__all__ = ["RemoteSession", "RemoteVault", "connect"]

T = TypeVar("T")
_PREFIX = "COGVAULT_"


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
    found = endpoints(variables) if endpoint is None else [endpoint]
    refusal: DaemonError | None = None
    for one in found:
        connection = Connection(one)
        try:
            hello = connection.call("/v1/hello")
        except DaemonError as error:
            refusal = error if endpoint is not None or not one.socket else None  # a socket may be a crashed daemon's
            continue
        if hello.get("version") != __version__:
            told = f"the daemon is cogvault {hello.get('version')}, this is {__version__}"
            raise DaemonError(told, path=str(one), hint="restart it: cogvault daemon --stop, then cogvault daemon")
        body = {
            "tenant": str(Path(path).expanduser().absolute()),
            "settings": {name: _json(value) for name, value in (settings or {}).items()},
            "environment": {name: value for name, value in variables.items() if name.startswith(_PREFIX)},
        }
        return RemoteVault(Path(connection.call("/v1/open", body)["tenant"]), connection)
    if refusal is not None:
        raise refusal
    return None


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
        self._connection = connection

    def __enter__(self) -> RemoteVault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteVault({str(self.path)!r})"

    def close(self) -> None:
        """Close the connection; the daemon's vault stays open."""
        self._connection.close()

    def sync(self, *, verify: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> SyncReport:
        """As ``Vault.sync``; its progress is not told."""
        from cogvault.indexing.report import SyncReport

        return self._call("sync", SyncReport, verify=verify)

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
        document = self._ask("search", arguments)
        return from_json(Hits, {**document, "items": document["hits"]})

    def read(self, id: str, lines: tuple[int, int] | None = None) -> CardText:
        """As ``Vault.read``."""
        return self._call("read", CardText, id=id, lines=lines)

    def layers(self, id: str = "") -> CardLayers:
        """As ``Vault.layers(id)``."""
        return self._call("layers", CardLayers, id=id)

    def cards(self) -> Sequence[CardInfo]:
        """As ``Vault.cards``."""
        return self._call("cards", tuple[CardInfo, ...])

    def status(self) -> VaultStatus:
        """As ``Vault.status``."""
        return self._call("status", VaultStatus)

    def list(self, prefix: str = "") -> tuple[ListedCard, ...]:
        """As ``Vault.list``."""
        return self._call("list", tuple[ListedCard, ...], prefix=prefix)

    def tree(self, prefix: str = "") -> Folder:
        """As ``Vault.tree``."""
        return self._call("tree", Folder, prefix=prefix)

    def history(self, id: str) -> tuple[FactVersion, ...]:
        """As ``Vault.history``."""
        return self._call("history", tuple[FactVersion, ...], id=id)

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
        return self._call(
            "record",
            WriteResult,
            content=content,
            title=title,
            type=type,
            tags=tags,
            description=description,
            to=to,
            importance=importance,
            pinned=pinned,
            valid_from=valid_from,
            valid_until=valid_until,
            source=source,
            meta=meta,
            redact=redact,
        )

    def record_many(self, drafts: Iterable[Draft]) -> tuple[WriteResult, ...]:
        """As ``Vault.record_many``."""
        return self._call("record_many", tuple[WriteResult, ...], drafts=drafts)

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
        return self._call(
            "update",
            WriteResult,
            id=id,
            body=body,
            section=section,
            append=append,
            set=set,
            unset=unset,
            base_hash=base_hash,
            redact=redact,
        )

    def supersede(self, old: str, new: str) -> WriteResult:
        """As ``Vault.supersede``."""
        return self._call("supersede", WriteResult, old=old, new=new)

    def move(self, id: str, new: str) -> WriteResult:
        """As ``Vault.move``."""
        return self._call("move", WriteResult, id=id, new=new)

    def forget(self, id: str, *, purge: bool = False) -> WriteResult:
        """As ``Vault.forget``."""
        return self._call("forget", WriteResult, id=id, purge=purge)

    def archived(self) -> tuple[ArchivedCard, ...]:
        """As ``Vault.archived``."""
        return self._call("archived", tuple[ArchivedCard, ...])

    def restore(self, id: str, version: int | None = None) -> WriteResult:
        """As ``Vault.restore``."""
        return self._call("restore", WriteResult, id=id, version=version)

    def purge(self, id: str, version: int | None = None) -> WriteResult:
        """As ``Vault.purge``."""
        return self._call("purge", WriteResult, id=id, version=version)

    def session(self, name: str) -> RemoteSession:
        """As ``Vault.session``."""
        return RemoteSession(self, name)

    def sessions(self) -> tuple[str, ...]:
        """As ``Vault.sessions``."""
        return self._call("sessions", tuple[str, ...])

    def _call(self, method: str, kind: type[T], **arguments: Any) -> T:
        return from_json(kind, self._ask(method, arguments)["result"])

    def _ask(self, method: str, arguments: Mapping[str, Any]) -> Any:
        given = {name: _json(value) for name, value in arguments.items()}
        return self._connection.call(f"/v1/vault/{method}", {"tenant": str(self.path), **given})


class RemoteSession:
    """A session of a vault of the daemon; as ``Session``."""

    def __init__(self, vault: RemoteVault, name: str) -> None:
        self._vault = vault
        self.name = name

    def append(
        self,
        speaker: str,
        text: str,
        at: datetime | str | None = None,
        meta: Mapping[str, JsonValue] | None = None,
    ) -> Turn:
        """As ``Session.append``."""
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
        return self.append_many([Turn(speaker, text, moment, meta or {})])[0]

    def append_many(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """As ``Session.append_many``."""
        return self._vault._call(  # noqa: SLF001 - the other half of one client
            "session_append", tuple[Turn, ...], name=self.name, turns=turns
        )

    def turns(self, last: int | None = None) -> list[Turn]:
        """As ``Session.turns``."""
        return list(self._vault._call("session_turns", tuple[Turn, ...], name=self.name, last=last))  # noqa: SLF001

    def close(self) -> CardLayers:
        """As ``Session.close``."""
        return self._vault._call("session_close", CardLayers, name=self.name)  # noqa: SLF001


def _json(value: Any) -> Any:
    """An argument as JSON. Text stays text; any other series of values is a list."""
    if isinstance(value, Mapping):
        return {str(name): _json(item) for name, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Iterable) and not isinstance(value, str | Draft | Turn):
        return [_json(item) for item in value]
    return to_json(value)
