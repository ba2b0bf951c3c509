"""What a vault's owner does not want indexed: gitignore patterns. Pure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from cogvault.cards.paths import is_hidden
from cogvault.text.normalise import nfc
from cogvault.types import Problem

__all__ = ["IgnoreRules", "is_scratch"]

# What pathspec writes for ``*`` and ``**`` with text before the next one of its kind.
_STAR = re.compile(r"\[\^/\]\*((?:(?!\[\^/\]\*|\(\?).)*)(?=\[\^/\]\*)", re.DOTALL)
_FOLDERS = re.compile(r"\(\?:(\.\+/|/\.\+)\)\?((?:(?!\(\?:(?:\.\+/|/\.\+)\)\?).)+)(?=\(\?:/\.\+\)\?)", re.DOTALL)
# A pattern that is a name or a path as it is written, which most are: it needs no expression, and is found by its text.
_PLAIN = re.compile(r"(!?)(?![#!])(/?[^*?\[\\/\x00-\x1f]+(?:/[^*?\[\\/\x00-\x1f]+)*/?)(?<!\s)")
# No path is longer, and reading a pattern takes more than its length.
_MAX_PATTERN_CHARS = 4096
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
class IgnorePattern:
    """One line of a set.

    Attributes:
        is_ignored: what a path is that matches; False for a negated pattern.
        matcher: matches the path itself. A match of a folder above it was decided when that was entered.
    """

    is_ignored: bool
    matcher: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PatternSet:
    """Patterns of one source, of which the last match wins, as in git.

    Attributes:
        folder: with a trailing ``/``, or ""; patterns see paths relative to it.
        plain: number of the line and ``is_ignored`` of those without wildcards. ``name`` is one in any folder,
            ``/path`` is from the folder on, and a ``/`` behind it means folders only.
        wild: number and pattern of the others, last line first.
    """

    folder: str
    plain: Mapping[str, tuple[int, bool]]
    wild: tuple[tuple[int, IgnorePattern], ...]

    def verdict(self, path: str) -> bool | None:
        """As ``IgnoreRules.verdict``, by these patterns."""
        if not path.startswith(self.folder):
            return None
        inner = path[len(self.folder) :]
        bare = inner.removesuffix("/")
        name = bare[bare.rfind("/") + 1 :]
        keys = (name, f"/{bare}") if bare == inner else (name, f"/{bare}", f"{name}/", f"/{inner}")
        last, is_ignored = max((self.plain[key] for key in keys if key in self.plain), default=(0, None))
        for number, pattern in self.wild:
            if number < last:
                break
            if pattern.matcher.fullmatch(inner):
                return pattern.is_ignored
        return is_ignored


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Sets of patterns, weakest first.

    Attributes:
        sets: of different sources; the strongest one that says anything of a path decides.
    """

    sets: tuple[PatternSet, ...] = ()

    def plus(self, lines: Iterable[str], *, folder: str = "", source: str = "") -> tuple[IgnoreRules, list[Problem]]:
        """These rules and a stronger set, with the lines that are no patterns.

        Args:
            lines: gitignore patterns.
            folder: the folder that they are relative to, NFC, with a trailing ``/``; "" = the vault's root.
            source: where the lines come from, for problems.
        """
        plain: dict[str, tuple[int, bool]] = {}
        wild: list[tuple[int, IgnorePattern]] = []
        problems: list[Problem] = []
        for number, line in enumerate(lines, 1):
            if len(line) > _MAX_PATTERN_CHARS:
                message = f"a pattern of more than {_MAX_PATTERN_CHARS} characters is left out"
                problems.append(Problem(source, "ignore-pattern", message, line=number))
                continue
            if (match := _PLAIN.fullmatch(nfc(line))) is not None:
                plain[_key(match[2])] = number, not match[1]
                continue
            try:
                pattern = _pattern(line)
            except (GitIgnorePatternError, re.error, RecursionError) as error:
                problems.append(Problem(source, "ignore-pattern", f"not a gitignore pattern: {error}", line=number))
                continue
            if pattern is not None:
                wild.append((number, pattern))
        if not (plain or wild):
            return self, problems
        return IgnoreRules((*self.sets, PatternSet(folder, plain, tuple(reversed(wild))))), problems

    def verdict(self, path: str) -> bool | None:
        """True = ignored, False = kept by a negated pattern, None = no pattern says anything.

        Args:
            path: vault-relative with ``/``, NFC; a trailing ``/`` says that it is a folder. Its own folders are taken
                as not ignored.
        """
        found = (one.verdict(path) for one in reversed(self.sets))
        return next((verdict for verdict in found if verdict is not None), None)


def _key(text: str) -> str:
    """A pattern without wildcards as ``PatternSet.plain`` has it: one with a ``/`` within is of a path."""
    return f"/{text.removeprefix('/')}" if "/" in text[:-1] else text


@lru_cache(1024)  # each look, and each write, reads the same lines
def _pattern(line: str) -> IgnorePattern | None:
    """A line as a pattern; None for a blank one and for a comment.

    Raises:
        GitIgnorePatternError, re.error, RecursionError: it is no pattern.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about brackets in brackets, which some take for sets
        pattern = GitIgnoreSpecPattern(_inside_only(nfc(line)))
        if pattern.include is None or pattern.regex is None:
            return None
        return IgnorePattern(pattern.include, re.compile(_linear(pattern.regex.pattern), re.DOTALL))


def _linear(pattern: str) -> str:
    """The same pattern with no way back into what an earlier ``*`` matched.

    Several stars take the length of a path to the power of their number, while the shortest match of each but the last
    is always right: more is left for those that follow.
    """
    if not pattern.startswith("^"):  # pathspec's short forms for "anything" and "any folder"
        return ".*" if pattern == "." else ".*/"
    pattern = _FOLDERS.sub(_first_folders, pattern)
    return _STAR.sub(lambda match: f"(?>[^/]*?{match[1]})", pattern)


def _first_folders(match: re.Match[str]) -> str:
    any_folders = match[1].replace("+", "+?")
    return f"(?>(?:{any_folders})??{match[2]}(?=/))"


def _inside_only(line: str) -> str:
    """``a/**`` matches what is inside ``a``, not ``a`` itself; pathspec would take the folder too."""
    stripped = line.rstrip()
    if stripped.endswith("/**"):
        return f"{stripped}/*"
    return f"{stripped}*/" if stripped.endswith("/**/") else line
