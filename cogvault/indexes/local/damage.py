"""What counts as a damaged file, and where such files go."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

FOLDER = "damaged"
_KEPT = 3
# What Python says, without a code of SQLite's, of a text column that holds other bytes.
_NOT_TEXT = "Could not decode to UTF-8"
# A number that is there already, or is none, is one that nobody wrote.
_CORRUPT_CODES = frozenset(
    (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    )
)
# What reading a row raises that has values of another kind or size than were written.
MISREAD = (ValueError, TypeError, KeyError, IndexError, OverflowError, zlib.error)

logger = logging.getLogger(__name__)


def is_damage(error: sqlite3.Error) -> bool:
    """True for a file that has to be rebuilt; False for one that is busy, full, closed or not to be opened."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Not SQLite's own: one of our checksums. A closed connection is a ProgrammingError.
        return type(error) is sqlite3.DatabaseError or str(error).startswith(_NOT_TEXT)
    if code in (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_ERROR):
        # Cut off, or a table is gone.
        return True
    return code & 0xFF in _CORRUPT_CODES


def is_no_file(path: Path) -> bool:
    """True for a folder, a pipe or a link to nowhere, where there should be a file or nothing."""
    return os.path.lexists(path) and not path.is_file()


def set_aside(folder: Path, names: Iterable[str]) -> str:
    """Move files or folders out of the way, keeping the newest few for whoever wants to look.

    Args:
        folder: the index folder.
        names: what to move; missing ones are ignored.

    Returns:
        Where they are now, for people; "nothing was left of it" when all were missing.
    """
    found = [name for name in names if os.path.lexists(folder / name)]
    if not found:
        return "nothing was left of it"
    place = folder / FOLDER
    if not place.is_dir():
        delete([place])
    place.mkdir(mode=0o700, exist_ok=True)
    numbers = sorted(int(path.name) for path in place.iterdir() if path.name.isdigit())
    target = place / str(numbers[-1] + 1 if numbers else 1)
    target.mkdir(mode=0o700)
    for name in found:
        (folder / name).rename(target / name)
    for number in numbers[: -(_KEPT - 1)]:
        shutil.rmtree(place / str(number), ignore_errors=True)
    logger.warning("damaged index files were moved to %s", target)
    return f"it is now in {FOLDER}/{target.name}"


def make_room(path: Path) -> None:
    """Set aside what stands in the place of a file of the index folder and is none.

    Raises:
        OSError: it cannot be moved.
    """
    if is_no_file(path):
        set_aside(path.parent, [path.name])


def delete(paths: Iterable[Path]) -> None:
    """Delete files; where one should be there may be a folder."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def discard(folder: Path) -> None:
    """Delete what was set aside in an index folder."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
