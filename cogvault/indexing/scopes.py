"""Which parts of a vault to look at when only some paths may have changed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cogvault.cards.paths import is_usable_name
from cogvault.indexing.folders import IGNORE_FILES

__all__ = ["EVERYWHERE", "Scope", "scopes_around"]


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a vault: a folder's own files, or everything below it.

    Attributes:
        folder: NFC, with a trailing ``/``; "" = the root.
        deep: everything below.
    """

    folder: str
    deep: bool

    def holds(self, id: str) -> bool:
        """True when a card with this id (NFC) lies in this part."""
        return id.startswith(self.folder) and (self.deep or "/" not in id[len(self.folder) :])


EVERYWHERE = (Scope("", deep=True),)


def scopes_around(
    root: Path, paths: Iterable[Path | str] | None, stands_alone: Callable[[str], bool] = lambda path: False
) -> tuple[Scope, ...]:
    """The parts of the vault around some paths; the whole of it when they concern all or their names are ambiguous.

    Args:
        root: the vault.
        paths: absolute, or relative to the root; None = all.
        stands_alone: asked for each path (vault-relative, with ``/``): True = it needs no part around it.
    """
    if paths is None:
        return EVERYWHERE
    found: dict[Scope, None] = {}
    for path in paths:
        inner = _relative(root, Path(path))
        if inner is None:
            continue
        folder = "".join(f"{part}/" for part in inner.parts[:-1])
        # A folder may exist under two normal forms, and its cards then share ids: only a full scan tells.
        twins = any(unicodedata.normalize(form, str(inner)) != str(inner) for form in ("NFC", "NFD"))
        if inner == Path() or inner.name in IGNORE_FILES or twins:
            return EVERYWHERE
        if not all(map(is_usable_name, inner.parts)):
            continue
        if stands_alone(f"{folder}{inner.name}"):
            continue
        whole = f"{folder}{inner.name}/"
        found[Scope(folder, deep=False)] = found[Scope(whole, deep=True)] = None
    return tuple(found)


def _relative(root: Path, path: Path) -> Path | None:
    if not path.is_absolute():
        return path
    for base in (root, root.resolve()):
        if path.is_relative_to(base):
            return path.relative_to(base)
    return None
