"""Where a vault's index can be kept: in its own folder, or elsewhere with the reason."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cogvault.config import make_private
from cogvault.config.disks import file_system_of, is_network, mounts_text

__all__ = ["IndexPlace", "find_place"]

_CATALOG = "catalog.sqlite"
_HINT = "set COGVAULT_INDEX_DIR to a folder of this machine that can be written"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """A folder for an index and all that belongs to it.

    Attributes:
        folder: where it is.
        reason: why it is not where it was asked for; "" = it is.
        hint: what to do about that.
        temporary: the folder is of this process only and goes with it.
    """

    folder: Path
    reason: str = ""
    hint: str = ""
    temporary: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Delete a temporary folder. Calling it twice does nothing."""
        if self.temporary is not None:
            self.temporary.cleanup()


def find_place(folder: Path) -> IndexPlace:
    """The folder itself when an index is safe there, else one on this machine's own disk.

    SQLite's log is shared memory, which no two machines have: on a network file system it corrupts the catalog. There
    the index is kept in the folder for temporary files, from one process to the next. A folder that cannot be written
    is copied, as far as it can be read, into a folder of this process.

    Args:
        folder: where the index is asked for; it need not exist.
    """
    nearest, mounts = _nearest(folder), mounts_text()
    if not nearest.is_dir():
        if nearest != folder:  # the folder of all indexes is named wrongly, which whoever opens this one tells
            return IndexPlace(folder)
        return _elsewhere(_temporary(f"the index folder {folder} cannot be used, as {folder} is no folder"))
    file_system = file_system_of(nearest.resolve(), mounts)
    if is_network(file_system):
        why = f"the index folder {folder} is on a network file system ({file_system}), where an index can be corrupted"
        twin = Path(tempfile.gettempdir()) / f"cogvault-{_user()}" / folder.name
        if not is_network(file_system_of(_nearest(twin).resolve(), mounts)) and _is_made_private(twin):
            return _elsewhere(IndexPlace(twin, f"{why}: it is kept in {twin} instead", _HINT))
        return _elsewhere(_temporary(why))
    if not all(map(_is_writable, (nearest, folder / _CATALOG, folder / "lock"))):
        place = _temporary(f"the index folder {folder} cannot be written")
        _copy(folder, place.folder)
        return _elsewhere(place)
    return IndexPlace(folder)


def _elsewhere(place: IndexPlace) -> IndexPlace:
    _log.warning("%s", place.reason)
    return place


def _temporary(why: str) -> IndexPlace:
    made = tempfile.TemporaryDirectory(prefix="cogvault-", ignore_cleanup_errors=True)
    return IndexPlace(Path(made.name), f"{why}: a temporary index is used, which ends with this process", _HINT, made)


def _nearest(folder: Path) -> Path:
    """What is in the folder's place, or in that of the nearest one above it that is there."""
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place)), folder)


def _is_writable(path: Path) -> bool:
    return not path.exists() or os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _user() -> str:
    return str(os.geteuid()) if hasattr(os, "geteuid") else "user"


def _is_made_private(folder: Path) -> bool:
    """True for a folder whose parent, which lies where everybody may write, is this user's and closed to others."""
    try:
        make_private(folder)
        parent = folder.parent.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(parent.st_mode):
        return False
    return not hasattr(os, "geteuid") or (parent.st_uid == os.geteuid() and not parent.st_mode & 0o077)


def _copy(folder: Path, target: Path) -> None:
    """What can be read of an index; what is torn by a writer meanwhile is noticed and made anew as any damage is."""
    try:
        shutil.copytree(folder, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*lock", "damaged"))
    except (OSError, shutil.Error) as error:
        _log.info("%s was copied in part: %s", folder, error)
    for path in (target, *target.rglob("*")):  # copied with their rights
        path.chmod(0o700 if path.is_dir() else 0o600)
