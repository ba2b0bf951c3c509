"""From environment, file and arguments to one configuration that knows where each value came from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import NoneType
from typing import Any, get_args, get_origin

from cogvault.config.model import MACHINE_FIELDS, MODEL_FIELDS, Config
from cogvault.config.problems import Source, nearest
from cogvault.errors import ConfigError

CONFIG_FILE = ".cogvault.toml"
ENVIRONMENT_PREFIX = "COGVAULT_"
# tomllib takes the cube of the length of a dotted key: a tenth of a second for a file of this size.
_MAX_FILE_BYTES = 8 << 10

# For each field that a source sets: its value, and the origin to show.
_Layer = dict[str, tuple[Any, str]]


@dataclass(frozen=True, slots=True)
class ResolvedConfig:
    """A configuration and its history.

    Attributes:
        config: the values in force.
        origins: for each field ``argument``, ``environment COGVAULT_X``, the path of a file, or ``default``.
    """

    config: Config
    origins: Mapping[str, str]


def resolve(vault: Path | None, explicit: Config | None, environ: Mapping[str, str]) -> ResolvedConfig:
    """Merge all sources; fields that ``explicit`` sets win.

    Args:
        vault: folder whose ``.cogvault.toml`` is read; None = no file.
        explicit: what the caller asked for; only the fields that were set count.
        environ: environment variables.

    Raises:
        ConfigError: a file or variable holds an unknown key, a bad value, or a key that does not belong there.
    """
    layers = [_from_environment(environ)]
    if vault is not None:
        layers.append(_from_file(vault))
    if explicit is not None:
        layers.insert(0, {name: (getattr(explicit, name), "argument") for name in explicit.model_fields_set})
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Config.model_fields, "default")
    for layer in reversed(layers):
        values |= {name: value for name, (value, _) in layer.items()}
        origins |= {name: origin for name, (_, origin) in layer.items()}
    return ResolvedConfig(Config(**values), origins)


def _from_environment(environ: Mapping[str, str]) -> _Layer:
    source = Source(prefix=ENVIRONMENT_PREFIX)
    values: dict[str, Any] = {}
    for variable in sorted(environ):
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if name in Config.model_fields:
            values[name] = _parse_variable(name, environ[variable], source)
        elif meant := nearest(name, Config.model_fields, cutoff=0.8):
            # Only misspellings: other names with this prefix belong to tools around the library.
            raise source.unknown(name, meant)
    checked = Config.model_validate(values, context=source)
    return {name: (getattr(checked, name), f"environment {source.name(name)}") for name in values}


def _parse_variable(name: str, text: str, source: Source) -> Any:
    annotation = Config.model_fields[name].annotation
    text = text.strip()
    if get_origin(annotation) is tuple:
        return _parse_list(name, text, source)
    if not text:
        raise source.error(name, f"{source.name(name)} is empty", "unset it, or give it a value")
    if text.lower() == "none" and NoneType in get_args(annotation):
        return None
    return text


def _parse_list(name: str, text: str, source: Source) -> list[Any]:
    if not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        parsed: list[Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise source.error(name, f"{source.name(name)} is not a JSON list: {error}") from error
    return parsed


def _from_file(vault: Path) -> _Layer:
    path = vault / CONFIG_FILE
    text = _read_file(vault, path)
    source = Source(path=path, text=text)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of more digits than Python reads
        at = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"not valid TOML: {error}", path=path, line=int(at[1]) if at else None) from error
    for name in sorted(values.keys() & MACHINE_FIELDS):
        hint = f"set it with {ENVIRONMENT_PREFIX}{name.upper()} or an argument"
        raise source.error(name, f"'{name}' cannot be set by a vault's own file", hint)
    for name in sorted(values.keys() & MODEL_FIELDS):
        if isinstance(values[name], str) and _leaves_vault(values[name]):
            hint = f"set it with {ENVIRONMENT_PREFIX}{name.upper()} or an argument"
            raise source.error(name, f"'{name}' points outside the vault, which a vault's own file cannot do", hint)
    checked = Config.model_validate(values, context=source)
    return {name: (getattr(checked, name), str(path)) for name in values}


def _read_file(vault: Path, path: Path) -> str:
    """Text of the vault's configuration file, "" when there is none."""
    try:
        if not path.is_symlink() and not path.exists():
            return ""
        if not path.resolve().is_relative_to(vault.resolve()) or not path.is_file():
            raise ConfigError("is not a regular file inside the vault", path=path, hint="replace it by a plain file")
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
        if len(data) > _MAX_FILE_BYTES:
            hint = "keep ignore patterns in .cogvaultignore"
            raise ConfigError(f"is larger than {_MAX_FILE_BYTES} bytes", path=path, hint=hint)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8: {error.reason} at byte {error.start}", path=path) from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symlinks, before Python 3.13
        raise ConfigError(f"could not be read: {error}", path=path) from error


def _leaves_vault(model: str) -> bool:
    """True for an address, and for a path that is absolute, in a home folder or climbs."""
    posix, windows = PurePosixPath(model), PureWindowsPath(model)
    return (
        model.startswith(("openai:", "~"))
        or "://" in model
        or posix.is_absolute()
        or bool(windows.anchor)
        or ".." in windows.parts
    )
