"""Where a watcher learns that files may have changed, and which of that matters to a vault."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from cogvault.cards.paths import is_hidden
from cogvault.indexing.folders import IGNORE_FILES, FolderRules, ScanOptions
from cogvault.indexing.ignore import is_scratch

__all__ = ["EventSource", "Mode", "PollingSource", "Tell", "not_ignored", "wakes"]

Mode: TypeAlias = Literal["events", "polling"]


class Tell(Protocol):
    """Called from any thread for each thing that may have changed; what is on disk decides, not the order of calls."""

    def __call__(self, path: Path | None, is_folder: bool = False) -> None:
        """Take a hint: an absolute path, or None when the source lost track and anything may have changed."""


class EventSource(Protocol):
    """Tells of changes below a folder."""

    @property
    def mode(self) -> Mode:
        """Whether it is told of changes, or somebody has to look."""

    @property
    def rescan_seconds(self) -> float:
        """How often everything should be looked at, whatever this source tells."""

    @property
    def is_complete(self) -> bool:
        """False once there may be folders of which it tells nothing: it has to be started again."""

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        """Begin to tell.

        Raises:
            OSError: the system cannot watch this folder.
        """

    def stop(self) -> None:
        """Tell no more. Calling it twice, or without a start, does nothing."""


class PollingSource:
    """Tells nothing; everything is looked at every so often.

    Args:
        rescan_seconds: how often.
    """

    mode: Mode = "polling"
    is_complete = True

    def __init__(self, rescan_seconds: float = 2.0) -> None:
        self.rescan_seconds = rescan_seconds

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        """Nothing to begin."""

    def stop(self) -> None:
        """Nothing to end."""


def wakes(path: str, is_folder: bool, recursive: bool) -> bool:
    """True when a change of this path may change the index, as far as its name tells.

    Args:
        path: vault-relative with ``/``; "" = the root.
        is_folder: what is or was there.
        recursive: whether folders belong to the vault.

    >>> [wakes(path, False, True) for path in ("n.md", "a/n.md", "n.md~", ".git/n.md", "n.png", ".gitignore")]
    [True, True, False, False, False, True]
    """
    *above, name = path.split("/")
    if any(map(is_hidden, above)) or (not recursive and (above or (is_folder and path))):
        return False
    if is_folder or name in IGNORE_FILES:
        return name in IGNORE_FILES or not is_scratch(name)
    return name[-3:].lower() == ".md" and not is_scratch(name)


def not_ignored(root: Path, options: ScanOptions, paths: Iterable[Path]) -> frozenset[Path]:
    """The paths (absolute, below the root) that no ignore pattern of the vault, as it is now, leaves out."""
    rules = FolderRules(root, options)
    return frozenset(path for path in paths if _is_taken(rules, path.relative_to(root).as_posix()))


def _is_taken(rules: FolderRules, path: str) -> bool:
    name = path[path.rfind("/") + 1 :]
    if name in IGNORE_FILES:
        return rules.enters(path[: -len(name)])
    return rules.takes(path) if name[-3:].lower() == ".md" else rules.enters(f"{path}/")
