"""The one resolver: text that names a card or folder to a path inside the vault, or a refusal (promise 8).

A refusal is always the same sentence, whatever the reason and whatever exists there.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from urllib.parse import unquote

from cogvault.errors import PathError
from cogvault.text.normalise import fold, visible

__all__ = [
    "MAX_NAME_BYTES",
    "is_hidden",
    "is_ordinary",
    "is_portable_name",
    "is_usable_name",
    "printable",
    "refusal",
    "resolve_inside",
]

MAX_NAME_BYTES = 255
# Device names of Windows, refused everywhere so that a vault can be copied to any machine.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9]) *(?:[.:].*)?", re.DOTALL)
# Names that need no closer look: most names, and a vault may have 100,000.
_ORDINARY = re.compile(
    r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:[ .]|\Z))[a-z0-9](?:[\w .-]{0,200}[\w-])?", re.IGNORECASE | re.ASCII
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
_DRIVE = re.compile(r"[a-z]:", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_REFUSED = "this path names no card of the vault"


def resolve_inside(root: Path, id: str) -> Path:
    """Path of a card or folder inside the vault.

    Nothing is decoded or normalized: the text either is a plain relative path with ``/``, or is refused.

    Args:
        root: the vault's folder.
        id: relative path as it is on disk, parts separated by ``/``.

    Returns:
        Absolute path below the real path of ``root``; it need not exist. Its last part may be a symbolic link that
        stays inside the vault.

    Raises:
        PathError: the path is empty, absolute, leaves the vault by ``..`` or a symbolic link, or has a part that is
            hidden, reserved or not usable on every system.
    """
    parts = id.split("/")
    if not all(map(is_usable_name, parts)):
        raise refusal(id)
    try:
        base = root.resolve()
        path = base.joinpath(*parts)
        inner = path.resolve().relative_to(base)
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name too long, outside
        raise refusal(id) from error
    if not all(map(is_usable_name, inner.parts)):
        raise refusal(id)
    return path


def is_usable_name(name: str) -> bool:
    """True for a file or folder name that a card's path may have on every system, also once somebody decodes it."""
    if is_ordinary(name):
        return True
    if not name or _UNPRINTABLE.search(name) or len(name.encode()) > MAX_NAME_BYTES:
        return False
    return _is_harmless(name) and ("%" not in name or _is_harmless(_decoded(name)))


def is_ordinary(name: str) -> bool:
    """True for most names that can be used: letters and digits of ASCII, and what may stand between them."""
    return _ORDINARY.fullmatch(name) is not None


def is_portable_name(name: str) -> bool:
    """True for a usable name that a file or folder can be given on every system, Windows included."""
    return is_usable_name(name) and _NOT_ON_WINDOWS.search(name) is None


def is_hidden(name: str) -> bool:
    """True for a name that starts with a dot, or would once invisible characters are taken away."""
    while name and not name.isascii() and unicodedata.category(name[0]) in ("Cf", "Mn", "Me"):
        name = name[1:]
    return name.startswith(".")


def printable(name: str) -> str:
    """The name as text that can be printed and sent as JSON: what is no text becomes ``\\\\xNN``."""
    return _UNPRINTABLE.sub(lambda match: _escape(ord(match.group())), name)


def _is_harmless(name: str) -> bool:
    """No dots, separators, drives, device names, control characters, nor an ending that Windows drops."""
    if is_hidden(name) or name.endswith((".", " ")) or not visible(name).strip(". "):
        return False
    if "/" in name or "\\" in name or _UNPRINTABLE.search(name):
        return False
    return not (_DRIVE.fullmatch(name) or _RESERVED.fullmatch(fold(name)))


def _decoded(name: str) -> str:
    while (again := unquote(name)) != name:
        name = again
    return name


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def refusal(id: str, hint: str = "use an id as search, list or archived gave it") -> PathError:
    """The one refusal of a path, whatever the reason."""
    return PathError(_REFUSED, path=printable(id), hint=hint)
