"""Where a vault is, and where derived files live: never inside it."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import platformdirs

from cogvault.config.model import Config
from cogvault.errors import ConfigError, VaultError


def vault_folder(path: str | os.PathLike[str]) -> Path:
    """The real path of a vault.

    Raises:
        VaultError: it is missing or no folder.
    """
    if not os.fspath(path):
        raise VaultError("no vault was named", hint="pass the folder of a vault")
    try:
        folder = Path(path).expanduser()
    except RuntimeError as error:
        raise VaultError("no such home folder", path=os.fspath(path), hint="write the whole path") from error
    if not folder.is_dir():
        if folder.exists():
            raise VaultError("not a folder", path=folder, hint="name the folder that holds the Markdown files")
        raise VaultError("no such folder", path=folder, hint="create it, or name the vault's folder")
    return folder.resolve()


def cache_folder(config: Config) -> Path:
    """Folder for derived files that all vaults share. Not created here."""
    return config.cache_dir or platformdirs.user_cache_path("cogvault", appauthor=False)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone; what exists keeps its rights.

    ``Path.mkdir(parents=True)`` gives its mode to the last folder only, and derived files hold the text of the cards.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def index_folder(vault: Path, config: Config) -> Path:
    """Folder of one vault's index: readable name plus a hash of the vault's real path. Not created here.

    Raises:
        ConfigError: the folder would lie inside the vault, into which nothing is ever written.
    """
    return _folder_of(vault, config.index_dir or cache_folder(config) / "indexes", "index_dir")


def state_folder(vault: Path, config: Config) -> Path:
    """Folder of what cannot be rebuilt from the files, such as use counts, of one vault. Not created here.

    Raises:
        ConfigError: the folder would lie inside the vault.
    """
    base = config.state_dir or platformdirs.user_state_path("cogvault", appauthor=False) / "vaults"
    return _folder_of(vault, base, "state_dir")


def _folder_of(vault: Path, base: Path, key: str) -> Path:
    real = vault.expanduser().resolve()
    name = re.sub(r"[^\w-]+", "-", real.name)[:40].strip("-") or "vault"
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    folder = base / f"{name}-{digest}"
    if folder.resolve().is_relative_to(real):
        raise ConfigError(
            f"{key} would lie inside the vault",
            path=folder,
            key=key,
            hint=f"set COGVAULT_{key.upper()} to a folder outside the vault",
        )
    return folder
