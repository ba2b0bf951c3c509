"""The token file: which token opens which vault."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path

from cogvault.errors import ConfigError
from cogvault_mcp.paths import given_folder

__all__ = ["TOKEN_FAULT", "TOKEN_HINT", "is_token", "read_tokens"]

MIN_TOKEN = 16
TOKEN_FAULT = f"the token needs at least {MIN_TOKEN} ASCII characters, without spaces"
TOKEN_HINT = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
_EXAMPLE = '[tenants.ana] token = "…" path = "/home/ana/memory"'


def is_token(value: object) -> bool:
    """True for what can be sent in a header and is not guessed."""
    return isinstance(value, str) and re.fullmatch(rf"[!-~]{{{MIN_TOKEN},}}", value) is not None


def read_tokens(file: Path) -> dict[str, Path]:
    """Token to vault folder.

    The file is TOML, one table a tenant: ``[tenants.ana]`` with ``token`` and ``path``. Nobody else may read it.

    Raises:
        ConfigError: it cannot be read, is open to others, has a wrong, short or repeated token, or a path that is not
            a whole one.
    """
    try:
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise ConfigError("others can read this token file", path=file, hint=f"chmod 600 {file}")
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"the token file cannot be read: {error.strerror}", path=file) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file is no TOML: {error}", path=file, hint=_EXAMPLE) from error
    tenants = document.get("tenants")
    if set(document) != {"tenants"} or not isinstance(tenants, dict) or not tenants:
        raise ConfigError("no tenants", path=file, hint=_EXAMPLE)
    found: dict[str, Path] = {}
    for name, entry in tenants.items():
        key = f"tenants.{name}"
        if not isinstance(entry, dict) or set(entry) != {"token", "path"}:
            raise ConfigError("needs token and path, and nothing else", path=file, key=key, hint=_EXAMPLE)
        token, path = entry["token"], entry["path"]
        if not is_token(token):
            raise ConfigError(TOKEN_FAULT, path=file, key=key, hint=TOKEN_HINT)
        if not isinstance(path, str) or not (folder := given_folder(path)).is_absolute():
            raise ConfigError("the path is no whole path", path=file, key=key, hint=_EXAMPLE)
        if token in found:
            raise ConfigError("another tenant has the same token", path=file, key=key, hint="give each its own")
        found[token] = folder
    return found
