"""A card's bytes to disk: whole or not at all, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import stat
from functools import cache
from pathlib import Path

from cogvault.cards.regular import read_regular
from cogvault.errors import CardError, ConflictError

__all__ = ["flush_folder", "hash_of", "rename_to_new", "write_atomic", "writer_of"]

# Hidden, so that neither scan nor watcher takes it for a card; short, so that any card's folder can hold it.
# Machine and process are in the name: what a kill leaves behind can then be told from what is being written.
_TEMP = re.compile(r"\.cogvault-(?:([0-9a-f]{8})-([0-9]{1,10})-)?[0-9a-f]{16}\.tmp")
_NEW_FILE_MODE = 0o666  # less the umask, as of any program that makes a file
_CONFLICT_HINT = "read the card again and repeat the change"


def hash_of(data: bytes) -> str:
    """Hex SHA-256: what ``CardInfo.hash`` and ``base_hash`` are."""
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, data: bytes, *, expected_hash: str | None) -> None:
    """Write a file so that a reader, or a kill at any instant, sees the old bytes or the new ones; on disk on return.

    A new file never replaces one. Of an existing file permissions are kept, and a symbolic link is written through;
    that its target lies inside the vault is the caller's to check (``resolve_inside``).

    Args:
        path: where to; its folder exists.
        data: the new bytes.
        expected_hash: hex SHA-256 of the bytes that are to be replaced; None = there must be no file yet.

    Raises:
        ConflictError: the file has other bytes, is gone, or (for a new one) exists. Nothing was written.
        CardError: the file cannot be written. Nothing was written.
    """
    try:
        if expected_hash is None:
            _create(path, data)
        else:
            _replace(path.resolve(), data, expected_hash)
    except FileExistsError as error:
        raise ConflictError("a file with this name exists", path=path, hint="choose another name") from error
    except FileNotFoundError as error:
        raise ConflictError("the card or its folder is gone", path=path, hint="look for it again") from error
    except OSError as error:
        raise CardError(f"cannot be written: {error.strerror}", path=path) from error


def _create(path: Path, data: bytes) -> None:
    temp = _write_temp(path.parent, data, None)
    try:
        rename_to_new(temp, path)
    except BaseException:
        _remove(temp)
        raise
    flush_folder(path.parent)


def _replace(path: Path, data: bytes, expected_hash: str) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.W_OK):
        raise CardError("the card is read-only", path=path, hint="make the file writable first")
    temp = _write_temp(path.parent, data, mode)
    try:
        # Compared as late as can be: an editor does not know our lock.
        if hash_of(read_regular(path)) != expected_hash:
            raise ConflictError("the card changed meanwhile", path=path, hint=_CONFLICT_HINT)
        temp.replace(path)
    except BaseException:
        _remove(temp)
        raise
    flush_folder(path.parent)


def _write_temp(folder: Path, data: bytes, mode: int | None) -> Path:
    """A new file beside the card, its bytes on disk."""
    temp = folder / f".cogvault-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Created with the card's own mode, so that no one sees text for an instant that he could not see before.
    descriptor = os.open(temp, flags, _NEW_FILE_MODE if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)  # what the umask took away
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        _remove(temp)
        raise
    return temp


def writer_of(name: str) -> int | None:
    """The process that made the file of this name on the way to a card: its number, 0 = it ran on another machine.
    None = the file is none of those."""
    match = _TEMP.fullmatch(name)
    if match is None:
        return None
    return int(match[2]) if match[1] == _machine() else 0


@cache
def _machine() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "surrogatepass")).hexdigest()[:8]


def rename_to_new(source: Path, path: Path) -> None:
    """Give a file another name of the same disk unless that is taken. Bytes, times and rights stay.

    A kill in between leaves the one file under both names.

    Raises:
        FileExistsError: the name is taken; both files are as they were.
        OSError: it cannot be done; the file is as it was.
    """
    if os.name == "nt":
        source.rename(path)  # refuses by itself
        return
    try:
        path.hardlink_to(source)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name, then fill it
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE_MODE))
        try:
            source.replace(path)
        except OSError:  # another disk
            path.unlink()
            raise
    else:
        source.unlink()


def _remove(temp: Path) -> None:
    with contextlib.suppress(OSError):
        temp.unlink()


def flush_folder(folder: Path) -> None:
    """Make the new name last through a loss of power, where folders can be flushed."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
