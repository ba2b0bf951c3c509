"""Every error that cogvault raises on purpose.

    CogvaultError
    ├── ConfigError            a key, value or file of the configuration
    ├── VaultError             the vault folder cannot be used
    │   ├── PathError          a path, URI or id that points outside or names nothing
    │   └── CardError          one card cannot be read, parsed or written
    │       └── ConflictError  the card changed since it was read
    ├── IndexFault             the index folder cannot be used
    │   └── SnapshotExpired    the view was purged while it was being read
    ├── ModelError             a model is damaged or answers nonsense
    │   └── ModelUnavailable   no such model here: extra not installed, or offline
    ├── QueryError             a search argument is out of range
    └── DaemonError            no daemon answers, or it is another version or has other settings

A message says what was wrong and where; ``hint`` says what to do about it.
"""

from __future__ import annotations

from pathlib import PurePath

__all__ = [
    "CardError",
    "CogvaultError",
    "ConfigError",
    "ConflictError",
    "DaemonError",
    "IndexFault",
    "ModelError",
    "ModelUnavailable",
    "PathError",
    "QueryError",
    "SnapshotExpired",
    "VaultError",
]


class CogvaultError(Exception):
    """Root of the tree.

    Args:
        message: what was wrong, in one sentence.
        path: the file or folder concerned.
        line: 1-based line in ``path``.
        key: the configuration or frontmatter key concerned.
        hint: what the reader can do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | PurePath | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.key = key
        self.hint = hint

    def __str__(self) -> str:
        where = self.path or ""
        if where and self.line is not None:
            where = f"{where}:{self.line}"
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class ConfigError(CogvaultError):
    """A configuration key or value is wrong; ``key`` and ``path`` name it."""


class VaultError(CogvaultError):
    """The vault folder is missing, unreadable or not a folder."""


class PathError(VaultError):
    """A path, URI or id was refused. Never says whether something exists there."""


class CardError(VaultError):
    """One card could not be read, parsed or written."""


class ConflictError(CardError):
    """The card changed after the caller read it; nothing was written."""


class IndexFault(CogvaultError):
    """The index folder could not be opened, written or rebuilt."""


class SnapshotExpired(IndexFault):
    """Rows of an old snapshot were purged meanwhile; take a new snapshot and retry."""


class ModelError(CogvaultError):
    """A model file is damaged, or a model server answered nonsense."""


class ModelUnavailable(ModelError):
    """The model is not on this machine and cannot be fetched."""


class QueryError(CogvaultError):
    """A search argument is out of range or contradicts another."""


class DaemonError(CogvaultError):
    """No daemon answers, or the one that does cannot be used; work without it."""
