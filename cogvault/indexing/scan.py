"""Which files are cards, and their stamps, without opening one.

A scan never stops at one bad entry: what could not be looked at is named, and its old rows are kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from cogvault.cards.paths import is_hidden, is_ordinary, is_usable_name, printable
from cogvault.errors import VaultError
from cogvault.indexing.folders import UNREADABLE, FolderRules, ScanOptions
from cogvault.indexing.ignore import is_scratch
from cogvault.indexing.scanned import ScannedFile, ScannedFiles
from cogvault.indexing.scopes import EVERYWHERE, Scope, scopes_around
from cogvault.text.normalise import nfc
from cogvault.types import KnownFile, Problem, Stamp

__all__ = ["ScanOptions", "ScanResult", "is_card_path", "root_id", "scan", "stamp_of"]

_SUFFIX = ".md"
_POSIX = os.name == "posix"
# SQLite keeps signed 64 bits; some file systems number inodes with more.
_INODE_MASK = (1 << 63) - 1
_MOUNT_POINT = 0xA0000003
# The file system's own folder at the root of a disk, which only root may read: that is no problem of the vault.
_LOST_AND_FOUND = "lost+found/"
_LINK_IGNORED = "a symbolic link that leads to no file of the vault is not followed"
_NOTHING: Mapping[str, KnownFile] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan saw.

    Attributes:
        files: cards' files by id.
        problems: entries that were left out, and why.
        unreadable: ids, and folders with a trailing ``/``, that could not be looked at.
        scopes: the parts of the vault that were looked at.
        alone: files that were looked at by themselves, by id, which is also their path.
        root: device and inode of the vault's folder.
    """

    files: Mapping[str, ScannedFile]
    problems: tuple[Problem, ...] = ()
    unreadable: frozenset[str] = frozenset()
    scopes: tuple[Scope, ...] = EVERYWHERE
    alone: frozenset[str] = frozenset()
    root: tuple[int, int] = (0, 0)

    @property
    def unread(self) -> tuple[Problem, ...]:
        """Those of the problems that tell what could not be looked at."""
        return tuple(problem for problem in self.problems if problem.code == UNREADABLE)

    @property
    def is_whole(self) -> bool:
        """True when all of the vault was looked at."""
        return self.scopes == EVERYWHERE

    @property
    def looked_at(self) -> Callable[[str], bool] | None:
        """Tells of an id or path whether the scan looked there, None = it looked everywhere."""
        return None if self.is_whole else lambda path: path in self.files or self._is_inside(nfc(path))

    def covers(self, id: str) -> bool:
        """True when the scan looked where this card would be: if it is not in ``files``, it is gone."""
        plain = nfc(id)
        if id in self.unreadable or any(plain.startswith(part) for part in self.unreadable if part.endswith("/")):
            return False
        return self._is_inside(plain)

    def _is_inside(self, plain: str) -> bool:
        return any(scope.holds(plain) for scope in self.scopes)


def scan(
    root: Path,
    options: ScanOptions,
    paths: Iterable[Path | str] | None = None,
    known: Callable[[str], bool] = lambda path: False,
    indexed: Mapping[str, KnownFile] = _NOTHING,
) -> ScanResult:
    """Look at the vault's folder.

    While an ignore file cannot be read, only those cards of its folder are taken that are indexed: another one may be
    meant to be left out.

    Args:
        root: the vault.
        options: which files belong to it.
        paths: look only around these files and folders (absolute, or relative to the root); None = everywhere.
        known: True for a path (vault-relative) at which a file can be nothing but the card with this id, as far as the
            index tells; such a file is looked at without its folder.
        indexed: files of the cards that the index holds, by id; what was seen as it was then is kept as that.

    Raises:
        VaultError: the root is missing, unreadable or no folder, or was exchanged meanwhile.
    """
    before = root_id(root)
    walk = _Walk(root, options, FolderRules(root, options), indexed)
    scopes = scopes_around(root, paths, lambda path: known(path) and walk.file(path))
    for scope in scopes:
        walk.part(scope)
    alone = frozenset(walk.alone)
    files: Mapping[str, ScannedFile] = walk.files()
    if walk.rules.unsure:
        files = {id: file for id, file in files.items() if walk.is_sure(file) or id in indexed}
    if root_id(root) != before:
        raise VaultError("the vault's folder was exchanged while it was scanned", path=root, hint="sync again")
    problems = (*walk.rules.problems, *walk.problems)
    return ScanResult(files, problems, frozenset(walk.unreadable), scopes, alone, before)


def is_card_path(root: Path, options: ScanOptions, path: str) -> bool:
    """True when a scan takes a file at this path (vault-relative, as on disk) for a card, should there be one."""
    walk = _Walk(root, options, FolderRules(root, options))
    return walk.is_card(path) and walk.rules.is_sure(path) and walk.is_real(path[: path.rfind("/") + 1])


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp in a stat result. Windows gives neither inode nor change time cheaply and alike: both are 0 there."""
    inode = status.st_ino & _INODE_MASK if _POSIX else 0
    return Stamp(status.st_size, status.st_mtime_ns, inode, status.st_ctime_ns if _POSIX else 0)


def root_id(root: Path) -> tuple[int, int]:
    """Device and inode of a vault's folder.

    Raises:
        VaultError: it is missing, unreadable or no folder.
    """
    try:
        status = root.stat()
        if not stat.S_ISDIR(status.st_mode):
            raise VaultError("the vault is not a folder", path=root, hint="name the folder that holds the cards")
    except FileNotFoundError as error:
        raise VaultError(
            "the vault's folder does not exist", path=root, hint="create it or correct the path"
        ) from error
    except OSError as error:
        raise VaultError(f"the vault's folder cannot be read: {error.strerror}", path=root) from error
    return status.st_dev, status.st_ino


@dataclass(slots=True)
class _Walk:
    """One walk through (parts of) a vault, gathering as it goes."""

    root: Path
    options: ScanOptions
    rules: FolderRules
    indexed: Mapping[str, KnownFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unreadable: set[str] = field(default_factory=set)
    # By path on disk.
    found: dict[str, Stamp] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    alone: list[str] = field(default_factory=list)
    real: dict[str, bool] = field(default_factory=dict)

    def part(self, scope: Scope) -> None:
        """List one part of the vault."""
        if scope.folder and not (self.options.walks(scope.folder) and self.is_real(scope.folder)):
            return
        folders = [scope.folder] if self.rules.enters(scope.folder) else []
        while folders:
            below = self._list(folders.pop())
            if scope.deep:
                folders.extend(below)

    def file(self, path: str) -> bool:
        """Look at one card's file; False = only a list of its folder tells what it is."""
        folder = path[: path.rfind("/") + 1]
        try:
            status = os.lstat(self.root / path)
            if not stat.S_ISREG(status.st_mode) or self._has_aliases(path):
                return False
        except OSError:
            return False
        if not (self.is_card(path) and self.is_real(folder)):
            return False
        self._add(path, status)
        self.alone.append(path)
        return True

    def _has_aliases(self, path: str) -> bool:
        """True when the path may not be spelled as on disk: where case does not matter, another case leads there too.

        Raises:
            OSError: as ``os.lstat``.
        """
        names = path.split("/")
        for end, name in enumerate(names):
            other = name.swapcase()
            if other == name:
                continue
            here = self.root.joinpath(*names[:end])
            try:
                if os.path.samestat(os.lstat(here / other), os.lstat(here / name)):
                    return True
            except FileNotFoundError:
                continue
        return False

    def files(self) -> ScannedFiles:
        """Everything found, links included, by id in order."""
        self._follow_links()
        paths = sorted(self.found)
        if "\n".join(paths).isascii():
            return ScannedFiles({path: self.found[path] for path in paths}, {}, self.targets)
        path_of: dict[str, str] = {}
        # Names that are NFC already go first, so that an id never depends on the order of a folder's entries.
        for path in sorted(paths, key=lambda path: not path.isascii() and nfc(path) != path):
            path_of[path if path.isascii() or (plain := nfc(path)) in path_of else plain] = path
        others = {id: path for id, path in path_of.items() if id != path}
        return ScannedFiles({id: self.found[path_of[id]] for id in sorted(path_of)}, others, self.targets)

    def _list(self, folder: str) -> list[str]:
        """Look at a folder's own entries; give its folders."""
        below: list[str] = []
        if folder in self.listed:
            return below
        self.listed.add(folder)
        is_open = self.rules.is_open(folder)
        try:
            with os.scandir(self.root / folder) as entries:
                for entry in entries:
                    self._entry(folder, entry, below, is_open)
        except (FileNotFoundError, NotADirectoryError):
            if not folder:
                raise VaultError("the vault's folder vanished while it was scanned", path=self.root) from None
        except OSError as error:
            if not folder:
                raise VaultError(f"the vault's folder cannot be read: {error.strerror}", path=self.root) from error
            self._unreadable(folder, error)
        return below

    def _entry(self, folder: str, entry: os.DirEntry[str], below: list[str], is_open: bool) -> None:
        name = entry.name
        path = folder + name
        try:
            # By far the most entries, of which there may be 100,000, need no closer look.
            if is_open and name[-3:] == _SUFFIX and is_ordinary(name) and entry.is_file(follow_symlinks=False):
                self._add(path, entry.stat(follow_symlinks=False))
                return
            is_card = name[-3:].lower() == _SUFFIX
            if is_hidden(name) or not (is_card or self.options.walks(f"{path}/")):
                return
            if entry.is_symlink():
                if is_card:
                    self.links.append(path)
            elif entry.is_dir(follow_symlinks=False):
                inner = f"{path}/"
                if (
                    self.options.walks(inner)
                    and not _is_junction(entry)
                    and self.rules.enters(inner)
                    and self._named(path)
                ):
                    below.append(inner)
            elif is_card and entry.is_file(follow_symlinks=False) and self._takes(path):
                self._add(path, entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return
        except OSError as error:
            self._unreadable(path, error)

    def _add(self, path: str, status: os.stat_result) -> None:
        """Take a file; what is equal to what the index has is not kept a second time."""
        stamp, known = stamp_of(status), self.indexed.get(path)
        if known is None:
            self.found[path] = stamp
        else:
            self.found[known.path if known.path == path else path] = known.stamp if known.stamp == stamp else stamp

    def _takes(self, path: str) -> bool:
        return not is_scratch(path[path.rfind("/") + 1 :]) and self.rules.takes(path) and self._named(path)

    def _named(self, path: str) -> bool:
        """True when the last name of the path can be used; else it is reported."""
        name = path[path.rfind("/") + 1 :]
        if is_usable_name(name):
            return True
        if any("\ud800" <= char <= "\udfff" for char in name):
            self._problem(path, "name-undecodable", "the name is no valid text; rename it to have it indexed")
        else:
            self._problem(path, "name-unusable", "the name does not work on every system; rename it to have it indexed")
        return False

    def _follow_links(self) -> None:
        """Take links to files inside the vault that are no cards by themselves; folders are never entered by a link."""
        base = self.root.resolve()
        taken: set[str] = set()
        for path in sorted(self.links):
            if not self._takes(path):
                continue
            try:
                real = (base / path).resolve(strict=True)
                target, status = real.relative_to(base).as_posix(), real.stat()
            except PermissionError as error:
                self._unreadable(path, error)
                continue
            except (OSError, RuntimeError, ValueError):  # broken, a loop, or outside
                self._problem(path, "link-ignored", _LINK_IGNORED)
                continue
            if not stat.S_ISREG(status.st_mode) or target in taken or self.is_card(target):
                continue
            if self.options.walks(target) or not all(map(is_usable_name, target.split("/"))):
                self._problem(path, "link-ignored", _LINK_IGNORED)
            elif self.rules.takes(target):
                taken.add(target)
                self.targets[path] = target
                self._add(path, status)

    def is_card(self, path: str) -> bool:
        """True when the path is one that files are taken at."""
        names = path.split("/")
        reached = len(names) == 1 or self.options.walks(path)
        named = names[-1][-3:].lower() == _SUFFIX and not is_scratch(names[-1]) and all(map(is_usable_name, names))
        return reached and named and self.rules.takes(path)

    def is_sure(self, file: ScannedFile) -> bool:
        """True when no ignore file that could not be read may concern it."""
        return self.rules.is_sure(file.path) and self.rules.is_sure(file.target)

    def is_real(self, folder: str) -> bool:
        """True when no symbolic link leads to the folder."""
        if folder not in self.real:
            self.real[folder] = (self.root / folder).resolve() == self.root.resolve() / folder
        return self.real[folder]

    def _unreadable(self, path: str, error: OSError) -> None:
        self.unreadable |= {path, nfc(path)}
        if path != _LOST_AND_FOUND:
            self._problem(path, UNREADABLE, f"cannot be looked at: {error.strerror}; what was known of it is kept")

    def _problem(self, path: str, code: str, message: str) -> None:
        self.problems.append(Problem(printable(path), code, message))


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """True for a folder of Windows that leads elsewhere without being a symbolic link."""
    return not _POSIX and getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _MOUNT_POINT
