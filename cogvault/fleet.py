"""Many vaults in one process: models shared, open vaults bounded, each tenant for itself."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, overload

from cogvault.cards.paths import is_usable_name
from cogvault.config import Config, cache_folder, index_folder, resolve, vault_folder
from cogvault.errors import ConfigError, IndexFault, ModelError, PathError, VaultError
from cogvault.indexes.local.heap import share_heaps
from cogvault.registry import ModelPool, shared_models
from cogvault.retrieval.hits import Hit, Hits
from cogvault.types import JsonValue, Status, worst
from cogvault.vault import Vault

__all__ = ["Fleet", "FleetHit", "FleetHits"]

TENANTS = "tenants"
# Lower case only: "Ana" and "ana" would be one folder on many disks.
_ID = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")
_ID_HINT = "1 to 64 of a-z 0-9 . _ @ + -, with a letter or digit at both ends"


@dataclass(frozen=True, slots=True)
class FleetHit:
    """A hit, and whose it is."""

    tenant: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class FleetHits(Sequence[FleetHit]):
    """Hits of several tenants, best first.

    Attributes:
        answers: the whole answer of each tenant that gave one.
        failures: what went wrong, for each tenant that gave none.
        status: the worst of all; ``empty`` only when none has a hit.
    """

    items: tuple[FleetHit, ...]
    answers: Mapping[str, Hits]
    failures: Mapping[str, str]
    status: Status

    @overload
    def __getitem__(self, index: int) -> FleetHit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FleetHit]: ...
    def __getitem__(self, index: int | slice) -> FleetHit | Sequence[FleetHit]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON-safe form."""
        return {
            "status": self.status.value,
            "hits": [{"tenant": item.tenant, **item.hit.to_dict()} for item in self.items],
            "tenants": {
                name: {"status": answer.status.value, "reason": answer.reason} for name, answer in self.answers.items()
            },
            "failures": dict(self.failures),
        }


class _Open:
    """A vault of the fleet, and how many use it now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.vault: Vault | None = None
        self.users = 0


class Fleet:
    """Opens vaults by id or folder, lends them, and closes those that nobody used for longest.

    Safe to share between threads; also a context manager.

    Args:
        root: folder of the tenants, which live in ``{root}/tenants/{id}/``; None = vaults are opened by folder only.
        config: settings of all vaults; a vault's own ``.cogvault.toml`` fills in what they leave open.
        max_open: vaults that stay open at most while nobody uses them.
        max_awake: of these, so many small ones keep what they read; the others rest, see ``Vault.rest``.
        models: pool of models; None = the pool all vaults of this process share.
        many_queries: for a process that is asked all the time: a pool of its own, whose bundled model takes longer to
            load and a quarter of the CPU time for each query.
        opened: called with each vault that was opened, before anybody gets it.

    Attributes:
        models: the pool.

    Raises:
        VaultError: ``root`` is missing or no folder.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        config: Config | None = None,
        *,
        max_open: int = 128,
        max_awake: int = 16,
        models: ModelPool | None = None,
        many_queries: bool = False,
        opened: Callable[[Vault], None] = lambda vault: None,
    ) -> None:
        if min(max_open, max_awake) < 1:
            raise ValueError("max_open and max_awake must be at least 1")
        share_heaps()  # before there are threads that each have one
        self.root = None if root is None else vault_folder(root)
        self._config = config
        shared = resolve(None, config, os.environ).config
        if models is None and many_queries:
            models = ModelPool(cache_folder(shared), shared.threads, many_queries=True)
        self.models = models or shared_models(cache_folder(shared), shared.threads)
        self._max_open = max_open
        self._max_awake = max_awake
        self._opened = opened
        self._lock = threading.Lock()
        self._open: OrderedDict[Path, _Open] = OrderedDict()
        self._closed = False

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Fleet({None if self.root is None else str(self.root)!r})"

    @contextmanager
    def vault(self, tenant: str | os.PathLike[str]) -> Iterator[Vault]:
        """Lend a vault for as long as the ``with`` block lasts; it stays open afterwards while there is room.

        Args:
            tenant: id of a tenant as text, or the folder of a vault as a ``Path``.

        Raises:
            PathError: the id is empty or not usable.
            VaultError: there is no such tenant or folder, or the fleet is closed.
        """
        folder = self._folder(tenant)
        entry = self._lease(folder)
        try:
            with entry.lock:
                if entry.vault is None:
                    entry.vault = self._opened_vault(folder)
            yield entry.vault
        finally:
            self._release(folder, entry)

    def create(self, tenant: str) -> Path:
        """Make the folder of a new tenant; one that is there stays as it is.

        What an index still knows of a former tenant with this id, whose folder was deleted, is forgotten.

        Raises:
            PathError: the id is empty or not usable.
            IndexFault: the index of a former tenant could not be opened or written.
        """
        folder = self._place(tenant)
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if is_new and index_folder(folder, resolve(None, self._config, os.environ).config).is_dir():
            self.release(tenant)
            with self.vault(tenant) as vault:
                vault.sync(verify=True)
        return folder

    def tenants(self) -> tuple[str, ...]:
        """Ids of all tenants below the root, sorted."""
        base = self._base()
        if not base.is_dir():
            return ()
        found = (entry.name for entry in base.iterdir() if not entry.is_symlink() and entry.is_dir())
        return tuple(sorted(name for name in found if _is_id(name)))

    def search(self, query: str, tenants: Iterable[str | os.PathLike[str]], k: int = 5, **options: Any) -> FleetHits:
        """Search several vaults; scores are absolute, so hits of all are put into one order.

        Args:
            query: as for ``Vault.search``.
            tenants: whose vaults, named one by one; there is no way to say "all".
            k: hits at most, of all together.
            options: as for ``Vault.search``.

        Raises:
            VaultError: no tenant was named, or something that names none.
            QueryError: an option is out of range.
        """
        named = () if tenants is None or isinstance(tenants, str | os.PathLike) else tuple(tenants)
        if not named:
            raise VaultError("no tenants were named", hint="pass a list of ids or folders, one is enough")
        if not all(isinstance(tenant, str | os.PathLike) for tenant in named):
            raise PathError("not an id of a tenant", hint=_ID_HINT)
        answers: dict[str, Hits] = {}
        failures: dict[str, str] = {}
        for tenant in dict.fromkeys(named):
            try:
                with self.vault(tenant) as vault:
                    answers[os.fspath(tenant)] = vault.search(query, k, **options)
            except (ConfigError, IndexFault, ModelError, VaultError) as error:
                failures[os.fspath(tenant)] = str(error)
        found = [FleetHit(name, hit) for name, answer in answers.items() for hit in answer]
        found.sort(key=lambda item: (-item.hit.score, item.tenant, item.hit.id, item.hit.lines))
        status = _status(answers, failures, is_empty=not found)
        return FleetHits(tuple(found[:k]), answers, failures, status)

    def folders(self) -> tuple[Path, ...]:
        """Folders of the vaults that are open now, the one that was used last at the end."""
        with self._lock:
            return tuple(folder for folder, entry in self._open.items() if entry.vault is not None)

    def release(self, tenant: str | os.PathLike[str]) -> None:
        """Close a vault, once nobody uses it; the next use opens it anew, with the settings of then.

        Its folder may be gone.

        Raises:
            PathError: the id is empty or not usable.
            VaultError: there is no such tenant or folder, and it is not open.
        """
        folder = Path(tenant).expanduser().resolve() if isinstance(tenant, os.PathLike) else self._place(tenant)
        with self._lock:
            entry = self._open.pop(folder, None)
            is_idle = entry is not None and not entry.users
        if entry is None:
            self._folder(tenant)
        elif is_idle:
            _close(entry)

    def close(self) -> None:
        """Close every vault; lent ones when they are given back. Calling it twice does nothing."""
        with self._lock:
            self._closed = True
            idle = [self._open.pop(folder) for folder, entry in list(self._open.items()) if not entry.users]
        for entry in idle:
            _close(entry)

    def _opened_vault(self, folder: Path) -> Vault:
        vault = Vault(folder, self._config, models=self.models)
        try:
            self._opened(vault)
        except BaseException:
            vault.close()
            raise
        return vault

    def _lease(self, folder: Path) -> _Open:
        with self._lock:
            if self._closed:
                raise VaultError("the fleet is closed", path=folder, hint="open it again with Fleet(root)")
            entry = self._open.setdefault(folder, _Open())
            self._open.move_to_end(folder)
            entry.users += 1
            return entry

    def _release(self, folder: Path, entry: _Open) -> None:
        idle: list[_Open] = []
        unlent: list[Vault] = []
        with self._lock:
            entry.users -= 1
            if self._closed or entry.vault is None or self._open.get(folder) is not entry:
                if not entry.users:
                    idle.append(entry)
                    if self._open.get(folder) is entry:
                        del self._open[folder]
            else:
                excess = len(self._open) - self._max_open
                unused = [place for place, other in self._open.items() if not other.users]
                idle.extend(self._open.pop(place) for place in unused[: max(excess, 0)])
                # Also those that rest: their watchers may have woken them.
                older = list(self._open.values())[: -self._max_awake]
                unlent.extend(other.vault for other in older if other.vault is not None and not other.users)
        for unused_entry in idle:
            _close(unused_entry)
        for vault in unlent:
            vault.rest()

    def _folder(self, tenant: str | os.PathLike[str]) -> Path:
        """The real folder of a tenant. Two names of one folder give one vault."""
        if isinstance(tenant, os.PathLike):
            return vault_folder(tenant)
        folder = self._place(tenant)
        if folder.resolve() != folder or not folder.is_dir():  # the root is a real path: a link would lead away
            raise VaultError(f"no tenant {tenant!r}", hint="create it first, or correct the id")
        return folder

    def _place(self, tenant: str) -> Path:
        if not isinstance(tenant, str) or not _is_id(tenant):
            raise PathError("not an id of a tenant", hint=_ID_HINT)
        return self._base() / tenant

    def _base(self) -> Path:
        if self.root is None:
            raise VaultError(
                "this fleet has no root, so that it knows no ids", hint="name the vault's folder by a Path"
            )
        return self.root / TENANTS


def _is_id(text: str) -> bool:
    return bool(_ID.fullmatch(text)) and is_usable_name(text)


def _status(answers: Mapping[str, Hits], failures: Mapping[str, str], *, is_empty: bool) -> Status:
    """The worst; an empty answer of one tenant takes nothing away from the hits of another."""
    said = {answer.status for answer in answers.values()} | ({Status.FAILED} if failures else set())
    if not is_empty:
        said.discard(Status.EMPTY)
    return worst(said)


def _close(entry: _Open) -> None:
    with entry.lock:
        if entry.vault is not None:
            entry.vault.close()
            entry.vault = None
