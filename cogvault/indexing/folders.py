"""Which folders and names of a vault count, by its options and ignore files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cogvault.cards.addresses import DIMENSIONS
from cogvault.cards.regular import read_regular
from cogvault.config import Config
from cogvault.indexing.ignore import IgnoreRules
from cogvault.indexing.ignore_text import ignore_lines
from cogvault.text.normalise import nfc
from cogvault.types import Problem

__all__ = ["IGNORE_FILES", "UNREADABLE", "FolderRules", "ScanOptions"]

# Code of the problem of what could not be looked at, so that what was known stays.
UNREADABLE = "unreadable"
_OWN = ".cogvaultignore"
_GIT = ".gitignore"
IGNORE_FILES = (_OWN, _GIT)
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Which files belong to a vault.

    Attributes:
        recursive: walk all folders; False = only files directly in the root, and the folders of addresses.
        ignore: gitignore patterns, stronger than those in files.
        use_gitignore: follow the vault's own ``.gitignore`` files too.
    """

    recursive: bool = False
    ignore: tuple[str, ...] = ()
    use_gitignore: bool = False

    @classmethod
    def from_config(cls, config: Config) -> ScanOptions:
        """The options that a vault's settings ask for."""
        return cls(config.recursive, config.ignore, config.use_gitignore)

    def walks(self, path: str) -> bool:
        """True when the folder that the path (vault-relative, as on disk, with a ``/``) lies in or ends with is walked,
        as far as no pattern ignores it."""
        head, slash, _ = path.partition("/")
        return self.recursive or (bool(slash) and head in DIMENSIONS)


class FolderRules:
    """Ignore patterns of one vault during one scan. Strongest first: options, ``.cogvaultignore``, ``.gitignore``.

    Attributes:
        problems: ignore files and patterns that could not be used.
        unsure: folders (on disk, with a trailing ``/``; "" = the root) of ignore files that could not be read.
    """

    def __init__(self, root: Path, options: ScanOptions) -> None:
        self.problems: list[Problem] = []
        self.unsure: list[str] = []
        self._root = root
        self._options = options
        self._own = self._plus(self._from_file(IgnoreRules(), _OWN, ""), options.ignore, "", "ignore")
        # By folder as it is on disk: the patterns of its .gitignore files, None = the folder is ignored.
        self._git: dict[str, IgnoreRules | None] = {"": self._from_git(IgnoreRules(), "")}

    def enters(self, folder: str) -> bool:
        """True when no pattern ignores the folder (on disk, with a trailing ``/``) nor one that it lies in."""
        return self._rules(folder) is not None

    def takes(self, path: str) -> bool:
        """True when no pattern ignores the file (on disk) nor a folder that it lies in."""
        rules = self._rules(path[: path.rfind("/") + 1])
        return rules is not None and not self._ignored(rules, path)

    def is_sure(self, path: str) -> bool:
        """True when every ignore file that may concern this path (on disk) was read, of those that were asked for."""
        return not any(path.startswith(folder) for folder in self.unsure)

    def is_open(self, folder: str) -> bool:
        """True when there is no pattern that could ignore a file in this folder (on disk, with a trailing ``/``)."""
        rules = self._rules(folder)
        return rules is not None and not self._own.sets and not rules.sets

    def _rules(self, folder: str) -> IgnoreRules | None:
        known = folder
        while known not in self._git:
            known = known[: known[:-1].rfind("/") + 1]
        rules = self._git[known]
        while known != folder:
            known = folder[: folder.index("/", len(known)) + 1]
            if rules is not None:
                rules = None if self._ignored(rules, known) else self._from_git(rules, known)
            self._git[known] = rules
        return rules

    def _ignored(self, git: IgnoreRules, path: str) -> bool:
        if not self._own.sets and not git.sets:
            return False
        plain = nfc(path)
        verdict = self._own.verdict(plain)
        return bool(git.verdict(plain) if verdict is None else verdict)

    def _from_git(self, rules: IgnoreRules, folder: str) -> IgnoreRules:
        return self._from_file(rules, _GIT, folder) if self._options.use_gitignore else rules

    def _from_file(self, rules: IgnoreRules, name: str, folder: str) -> IgnoreRules:
        path = self._root / folder / name
        try:
            if path.is_symlink():
                raise OSError(None, "a symbolic link is not followed here")
            data = read_regular(path, _MAX_BYTES + 1)
            if len(data) > _MAX_BYTES:
                raise OSError(None, f"it is larger than {_MAX_BYTES} bytes")
        except (FileNotFoundError, NotADirectoryError):
            return rules
        except OSError as error:
            message = f"these ignore patterns could not be read, so no new card is indexed here: {error.strerror}"
            self.problems.append(Problem(f"{folder}{name}", UNREADABLE, message))
            self.unsure.append(folder)
            return rules
        lines, problems = ignore_lines(data, f"{folder}{name}")
        self.problems.extend(problems)
        return self._plus(rules, lines, nfc(folder), f"{folder}{name}")

    def _plus(self, rules: IgnoreRules, lines: tuple[str, ...] | list[str], folder: str, source: str) -> IgnoreRules:
        stronger, problems = rules.plus(lines, folder=folder, source=source)
        self.problems.extend(problems)
        return stronger
