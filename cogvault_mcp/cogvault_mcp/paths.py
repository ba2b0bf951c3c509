"""Folders as people write them."""

from __future__ import annotations

from pathlib import Path

from cogvault.errors import ConfigError

__all__ = ["given_folder"]


def given_folder(text: str) -> Path:
    """A folder that was named, with ``~`` spelled out.

    Raises:
        ConfigError: nothing was named, or ``~`` is the home of nobody.
    """
    if not text.strip():
        raise ConfigError("no vault was named", hint="say --tenant DIR, or set COGVAULT_TENANT to the vault's folder")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"no such home folder: {text}", hint="write the whole path") from error
