"""What hooks remember of a session from one event to the next: small files of this user, outside of the vault."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

__all__ = ["StateFile", "fault", "hooks_folder", "make_private", "prune"]

MAX_AGE_DAYS = 90


def hooks_folder() -> Path:
    """``hooks`` in the folder that ``COGVAULT_STATE_DIR`` names, else in this user's state folder. Not created here."""
    given = os.environ.get("COGVAULT_STATE_DIR")
    base = Path(given).expanduser() if given else platformdirs.user_state_path("cogvault", appauthor=False)
    return base / "hooks"


def make_private(folder: Path) -> None:
    """``cogvault.config.make_private``, without the time that importing it takes: a hook is waited for."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


class StateFile:
    """A small JSON object of one session of one vault.

    Args:
        folder: of all such files.
        vault: the vault's folder.
        session: id of the session.
        kind: what it is about; part of the file's name.
    """

    def __init__(self, folder: Path, vault: Path, session: str, kind: str) -> None:
        digest = hashlib.sha256(os.fsencode(vault) + b"\0" + session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.path = folder / f"{digest}.{kind}.json"

    def read(self) -> dict[str, Any]:
        """What was written last; {} when nothing was, or it cannot be read."""
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, value: dict[str, Any]) -> None:
        """Replace it in one step.

        Raises:
            OSError: it cannot be written.
        """
        make_private(self.path.parent)
        made = self.path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        made.replace(self.path)

    def remove(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)


def fault(folder: Path) -> str:
    """Why nothing can be kept in the folder, "" = it can be."""
    probe = folder / f"probe.{os.getpid()}"
    try:
        make_private(folder)
        with os.fdopen(os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600), "wb", 0) as file:
            file.write(b"{}")
        probe.unlink()
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return ""


def prune(folder: Path) -> None:
    """Remove what no session needed for a long time."""
    oldest = time.time() - MAX_AGE_DAYS * 86_400
    with suppress(OSError):
        for path in folder.iterdir():
            if path.stat().st_mtime < oldest:
                path.unlink()
