"""Calls of one vault of the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from cogvault.client.connection import ANSWER_SECONDS, Connection
from cogvault.client.wire import from_json, to_wire
from cogvault.types.arguments import check_arguments

__all__ = ["Calls"]

T = TypeVar("T")
# Doing these twice is as good as once.
_REPEATABLE = frozenset(
    {"archived", "cards", "history", "layers", "list", "read", "search", "session", "session_turns", "sessions"}
    | {"status", "strength", "strengths", "sync", "tree"}
)
# These take as long as the vault is large.
_LONG = frozenset({"layers_export", "layers_import", "session_close", "sweep", "sync"})


class Calls:
    """Sends calls about one vault and gives their results as values.

    Args:
        path: the vault's real folder.
        connection: to the daemon.
    """

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path = path
        self._connection = connection

    def __call__(self, method: str, kind: type[T], **arguments: Any) -> T:
        """The result of a call, as a value of this type.

        Raises:
            QueryError: an argument is of the wrong type, which a daemon would take for another.
        """
        check_arguments(**arguments)
        return from_json(kind, self.ask(method, arguments)["result"])

    def ask(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """The answer's JSON."""
        return self._connection.call(
            f"/v1/vault/{method}",
            {"tenant": str(self._path), **{name: to_wire(value) for name, value in arguments.items()}},
            repeatable=method in _REPEATABLE,
            timeout_seconds=None if method in _LONG else ANSWER_SECONDS,
        )

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
