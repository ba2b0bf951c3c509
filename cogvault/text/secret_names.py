"""Names that say that their value is a secret, and the values behind them on the same line. Pure.

A value is one that no sentence would hold: letters and digits, no blanks, and no reference to a place where the secret
really is. Of a name in prose (``the password is …``) nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["NAME", "SIGN", "assigned", "listed", "may_name", "shortest_of", "shortest_under"]

# Of a password six characters are enough; the other names stand before ordinary words as well.
_MIN_PASSWORD = 6
_MIN_KEY = 10
NAME = (
    r"(?i:(?P<password>(?<![^\W\d_])(?:pass|pwd)|password|passwd|passphrase|passcode|passwort|kennwort|contraseña"
    r"|mot de passe|senha|wachtwoord|hasło|şifre|пароль|密码|密碼|パスワード|비밀번호|पासवर्ड)"
    r"|secret|token|credential"
    r"|(?:secret|api|access|private|auth|encryption)[ _-]?key|(?:api|access|auth|refresh|bot)[ _-]?token)s?"
)
# What every such name has in it, casefolded: looked for first, which is many times as fast.
_STEMS = (
    *("pass", "pwd", "kennwort", "contraseña", "mot de passe", "senha", "wachtwoord", "hasło", "şifre", "пароль", "密"),
    *("パスワード", "비밀번호", "पासवर्ड", "secret", "token", "credential", "key"),
)
# Markdown's marks of emphasis may close behind the colon, and open before the value.
SIGN = r"[\"'`*_]*[ \t]*(?:[:=]>?|：)[*_]{0,3}[ \t]*[*_]{0,3}"
# An anchor or a tag of YAML before the value.
_YAML = r"(?:[&!][\w!.:/-]+[ \t]+)?"
_TOKEN = r"(?![$<{(\[%&*|])[^\s\"'`,;<>(){}\[\]]{6,}"
_CELL = r"[^\s\"'`,;<>(){}\[\]|]{6,}"
_PATTERNS = [
    re.compile(text)
    for text in (
        rf"{NAME}{SIGN}{_YAML}[\"'`]?(?P<value>{_TOKEN})",
        rf"--[\w-]{{0,40}}{NAME}[ \t]+[\"']?(?P<value>{_TOKEN})",
        rf"\|[^|]{{0,40}}{NAME}[ \t*_`]*\|[ \t*_`]*(?P<value>{_CELL})[ \t*_`]*\|",
        rf"<[^<>\s]{{0,40}}{NAME}>(?P<value>{_TOKEN})</",
    )
]
# A list or mapping on the same line; neither a link nor a place to fill in.
_IN_BRACKETS = re.compile(
    rf"{NAME}{SIGN}{_YAML}(?P<items>\[(?!\[)[^\[\](){{}}]*\](?!\()|\{{(?![{{%])[^\[\](){{}}]*:[^\[\](){{}}]*\}})"
)
_ITEM = re.compile(
    rf"[\s\[{{\"'`]*(?:[\w .-]{{1,60}}?[\"']?[ \t]*[:=][ \t]+)?{_YAML}[\[{{\"'`*_]*(?P<value>[^\s\"'`,;<>(){{}}\[\]]+)"
    rf"[\"'`\s\]}}*_]*(?:,\s*|\Z)"
)
_REFERENCE = re.compile(
    r"(?i)[\w.+-]+@[\w-]+(?:\.[a-z]+)+|.*://.*|~?/.*|[0-9./:TZ+-]+|your.*|x{4,}.*"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
_KEY = re.compile(rf"{NAME}\Z")


def may_name(text: str) -> bool:
    """False for a text that has no such name in it."""
    folded = text.casefold()
    return any(stem in folded for stem in _STEMS)


def shortest_under(key: str) -> int | None:
    """How long a value under a key, such as ``db_password``, has to be to count; None = the key tells of no secret."""
    match = _KEY.search(key.strip())
    return None if match is None else shortest_of(match)


def shortest_of(match: re.Match[str]) -> int:
    """The same of a name that ``NAME`` matched."""
    return _MIN_KEY if match["password"] is None else _MIN_PASSWORD


def assigned(line: str) -> Iterator[tuple[int, int]]:
    """Start and end of the values behind such names in one line."""
    if not may_name(line):
        return
    for pattern in _PATTERNS:
        for match in pattern.finditer(line):
            yield from _checked(match, 0, shortest_of(match))
    for match in _IN_BRACKETS.finditer(line):
        yield from listed(match["items"], match.start("items"), shortest_of(match))


def listed(text: str, start: int, shortest: int) -> Iterator[tuple[int, int]]:
    """Start and end of the values in what is nothing but one value, or several with commas between them.

    Args:
        text: ``value``, ``[value, "value"]``, ``{name: value}``, ``name: value``. Prose holds none.
        start: where it begins.
        shortest: how long a value has to be.
    """
    at, found = 0, []
    while at < len(text):
        match = _ITEM.match(text, at)
        if match is None:
            return
        found.append(match)
        at = match.end()
    for match in found:
        yield from _checked(match, start, shortest)


def _checked(match: re.Match[str], start: int, shortest: int) -> Iterator[tuple[int, int]]:
    value = match["value"].rstrip(".")
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if len(value) >= shortest and is_mixed and not _REFERENCE.fullmatch(value):
        yield start + match.start("value"), start + match.start("value") + len(value)
