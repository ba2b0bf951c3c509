"""What a vault's owner does not want indexed: gitignore patterns. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from cogvault.cards.paths import is_hidden
from cogvault.text.normalise import nfc
from cogvault.types import Problem

__all__ = ["IgnoreRules", "is_scratch"]

_SCRATCH_ENDS = ("~", ".tmp", ".swp", ".swo", ".swx", ".bak", ".part", ".crdownload", "___jb_tmp___", "___jb_old___")


def is_scratch(name: str) -> bool:
    """True for a hidden name, or one that editors, office programs and downloads make and take away again.

    >>> [is_scratch(name) for name in (".#n.md", "n.md~", "#n.md#", "4913", "~$n.md", "n.md")]
    [True, True, True, True, True, False]
    """
    if is_hidden(name) or name.startswith("~$") or name == "4913":
        return True
    return name.lower().endswith(_SCRATCH_ENDS) or (name.startswith("#") and name.endswith("#"))


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Sets of patterns, weakest first; within a set the last match wins, as in git.

    Attributes:
        sets: (folder with a trailing ``/`` or "", patterns); patterns see paths relative to their folder.
    """

    sets: tuple[tuple[str, tuple[GitIgnoreSpecPattern, ...]], ...] = ()

    def plus(self, lines: Iterable[str], *, folder: str = "", source: str = "") -> tuple[IgnoreRules, list[Problem]]:
        """These rules and a stronger set, with the lines that are no patterns.

        Args:
            lines: gitignore patterns.
            folder: the folder that they are relative to, NFC, with a trailing ``/``; "" = the vault's root.
            source: where the lines come from, for problems.
        """
        patterns: list[GitIgnoreSpecPattern] = []
        problems: list[Problem] = []
        for number, line in enumerate(lines, 1):
            try:
                patterns.append(GitIgnoreSpecPattern(_inside_only(nfc(line))))
            except GitIgnorePatternError as error:
                problems.append(Problem(source, "ignore-pattern", f"not a gitignore pattern: {error}", line=number))
        patterns = [pattern for pattern in patterns if pattern.include is not None]  # not blank, no comment
        return (IgnoreRules((*self.sets, (folder, tuple(patterns)))) if patterns else self), problems

    def verdict(self, path: str) -> bool | None:
        """True = ignored, False = kept by a negated pattern, None = no pattern says anything.

        Args:
            path: vault-relative with ``/``, NFC; a trailing ``/`` says that it is a folder. Its own folders are taken
                as not ignored.
        """
        for folder, patterns in reversed(self.sets):
            if not path.startswith(folder):
                continue
            inner = path[len(folder) :]
            for pattern in reversed(patterns):
                if _applies(pattern, inner):
                    return pattern.include
        return None


def _applies(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """True when the pattern means the path itself. A match of a folder above it was decided when that was entered."""
    regex = pattern.regex
    if regex is None:
        return False
    if not regex.pattern.startswith("^"):  # pathspec's short forms for "anything" and "any folder"
        return regex.pattern == "." or path.endswith("/")
    return regex.fullmatch(path) is not None


def _inside_only(line: str) -> str:
    """``a/**`` matches what is inside ``a``, not ``a`` itself; pathspec would take the folder too."""
    stripped = line.rstrip()
    if stripped.endswith("/**"):
        return f"{stripped}/*"
    return f"{stripped}*/" if stripped.endswith("/**/") else line
