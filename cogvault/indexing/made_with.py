"""With which settings the files were looked at for what an index holds: another process may have other ones."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

__all__ = ["MadeWith"]

_log = logging.getLogger(__name__)


class MadeWith:
    """A small private file of the index folder, written in turn with the index only.

    Args:
        folder: the index folder of the vault.
        kind: the settings that decide which cards an index holds, and what of them.
        is_shared: False = for who has an index that no other process has.
    """

    def __init__(self, folder: Path, kind: str, *, is_shared: bool = True) -> None:
        self._is_shared = is_shared
        self._path = folder / "made-with"
        self._kind = hashlib.sha256(kind.encode(errors="surrogatepass")).hexdigest().encode("ascii")

    @property
    def is_kept(self) -> bool:
        """True when it says that the index holds what these settings ask for."""
        return not self._is_shared or self._read() == self._kind

    @property
    def is_others(self) -> bool:
        """True when the index holds what other settings ask for, or parts of it. One that says nothing, as a new one or
        one of earlier versions, passes for one's own."""
        return self._is_shared and self._read() not in (None, self._kind)

    def begin(self) -> None:
        """Parts of the index are about to be put as these settings ask for."""
        if not self.is_kept:
            self._write(b"")

    def keep(self) -> None:
        """All of the index is as these settings ask for."""
        if not self.is_kept:
            self._write(self._kind)

    def _read(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except OSError:
            return None

    def _write(self, kind: bytes) -> None:
        try:
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(kind)
        except OSError as error:  # who has other settings looks at the files later, as at any change
            _log.debug("the settings of the index were not kept: %s", error)
