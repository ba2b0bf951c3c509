"""Sessions and layers of a vault that a daemon serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING

from cogvault import types
from cogvault.client.calls import Calls
from cogvault.errors import VaultError
from cogvault.types.arguments import checked_turns

if TYPE_CHECKING:
    from cogvault.types import CardLayers, JsonValue, LayerFilesReport, Turn

__all__ = ["RemoteLayers", "RemoteSession"]

_PLAIN = frozenset({str, int, bool, type(None)})


class RemoteLayers:
    """As ``Layers``: ``vault.layers(id)``, and layers as files.

    Args:
        calls: of the vault.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __call__(self, id: str = "") -> CardLayers:
        """As ``Vault.layers(id)``."""
        return self._calls("layers", types.CardLayers, id=id)

    def export(self) -> LayerFilesReport:
        """As ``Vault.layers.export``."""
        return self._calls("layers_export", types.LayerFilesReport)

    def import_edits(self) -> LayerFilesReport:
        """As ``Vault.layers.import_edits``."""
        return self._calls("layers_import", types.LayerFilesReport)


class RemoteSession:
    """As ``Session``.

    Args:
        calls: of the vault.
        name, folder, uri: as ``Session``'s.
    """

    def __init__(self, calls: Calls, name: str, folder: str, uri: str) -> None:
        self._calls = calls
        self._closed = False
        self.name = name
        self.folder = folder
        self.uri = uri

    def __enter__(self) -> RemoteSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._closed:
            self.close()

    def __repr__(self) -> str:
        return f"RemoteSession({self.name!r})"

    def append(
        self,
        speaker: str,
        text: str,
        at: datetime | str | None = None,
        meta: Mapping[str, JsonValue] | None = None,
    ) -> Turn:
        """As ``Session.append``."""
        self._check_open()
        _check_meta(meta)
        return self._calls("session_append", types.Turn, name=self.name, speaker=speaker, text=text, at=at, meta=meta)

    def append_many(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """As ``Session.append_many``."""
        self._check_open()
        said = checked_turns(turns)
        for turn in said:
            _check_meta(turn.meta)
        return self._calls("session_append_many", tuple[types.Turn, ...], name=self.name, turns=said)

    def turns(self, last: int | None = None) -> list[Turn]:
        """As ``Session.turns``."""
        return self._calls("session_turns", list[types.Turn], name=self.name, last=last)

    def close(self) -> CardLayers:
        """As ``Session.close``."""
        self._closed = True
        return self._calls("session_close", types.CardLayers, name=self.name)

    def _check_open(self) -> None:
        if self._closed:
            raise VaultError("the session is closed", path=self.folder, hint="open it again with vault.session(name)")


def _check_meta(meta: object) -> None:
    """Refuse what a session of this process refuses to write, and what would be sent as something else.

    Raises:
        CardError: it is no JSON object.
    """
    if isinstance(meta, Mapping) and not all(type(value) in _PLAIN for value in meta.values()):
        from cogvault.lifecycle.turns import meta_line

        meta_line(meta)
