"""Folders of derived model files: made once per machine, checked at every load, re-made when damaged."""

from __future__ import annotations

import json
import logging
import os
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cogvault.config import make_private
from cogvault.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MANIFEST: Final = "manifest.json"
_READ_BYTES: Final = 1 << 20
_LOCK_TIMEOUT_SECONDS: Final = 300.0

_logger = logging.getLogger(__name__)


class PreparedFolder:
    """A folder that `make` fills, complete or absent, never half-written.

    Files are written beside the folder, flushed to disk, described in a manifest (size and CRC-32 of
    each), and moved into place by one rename under a lock that all processes share.

    Args:
        path: Where the folder is to be.
        make: Fills an existing empty folder with files.
    """

    __slots__ = ("_make", "path")

    def __init__(self, path: Path, make: Callable[[Path], None]) -> None:
        self.path = path
        self._make = make

    def ensure(self) -> Path:
        """The folder with sound files, made first where it is absent or damaged.

        Raises:
            ModelError: If it cannot be made here, or is damaged again right after it was made.
        """
        if self.is_sound():
            return self.path
        return self.remake(unless_sound=True)

    def remake(self, *, unless_sound: bool = False) -> Path:
        """Make the folder anew, setting aside what is there.

        Args:
            unless_sound: Keep a folder that another process made meanwhile.

        Raises:
            ModelError: As `ensure`.
        """
        try:
            make_private(self.path.parent)
            with self._lock():
                if not (unless_sound and self.is_sound()):
                    self._replace()
        except OSError as error:
            msg = f"the model's cache cannot be written: {error.strerror or error}"
            raise ModelError(msg, path=self.path, hint="free the disk, or set COGVAULT_CACHE_DIR") from error
        if not self.is_sound():
            msg = "the model's cache is damaged again right after it was made"
            raise ModelError(msg, path=self.path, hint="check the disk, or set COGVAULT_CACHE_DIR")
        return self.path

    def is_sound(self) -> bool:
        """Whether every file is there, of the right size and content. Reads all of it: about 0.05 s per 100 MB."""
        try:
            manifest = json.loads((self.path / _MANIFEST).read_bytes())
            return bool(manifest) and all(
                _describe(self.path / name) == description for name, description in manifest.items()
            )
        except (OSError, ValueError, AttributeError):
            return False

    def _replace(self) -> None:
        import shutil
        import tempfile

        if self.path.exists():
            _logger.warning("model cache %s is damaged and made anew", self.path)
        for left_over in self.path.parent.glob(f".{self.path.name}-*"):  # of a killed process: we hold the lock
            shutil.rmtree(left_over, ignore_errors=True)
        made = Path(tempfile.mkdtemp(prefix=f".{self.path.name}-", dir=self.path.parent))
        try:
            self._make(made)
            names = sorted(entry.name for entry in made.iterdir())
            manifest = {name: _describe(made / name) for name in names}
            (made / _MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            for name in (*names, _MANIFEST):
                _flush(made / name)
            if self.path.exists():
                aside = Path(tempfile.mkdtemp(prefix=f".{self.path.name}-", dir=self.path.parent))
                self.path.rename(aside / "damaged")
                shutil.rmtree(aside, ignore_errors=True)
            made.rename(self.path)
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_SECONDS):
                yield
        except Timeout as error:
            msg = "another process has been preparing the model for too long"
            raise ModelError(msg, path=self.path, hint="end it, or set COGVAULT_CACHE_DIR") from error


def _describe(path: Path) -> dict[str, int]:
    checksum = size = 0
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            checksum = zlib.crc32(block, checksum)
            size += len(block)
    return {"bytes": size, "crc32": checksum}


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
