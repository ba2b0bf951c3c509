"""What the known keys of a frontmatter mean. One value that cannot be read is reported and costs only itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from cogvault.cards.frontmatter import Fault, Frontmatter, as_text
from cogvault.cards.key_names import misnamed
from cogvault.text.dates import parse_date
from cogvault.text.normalise import fold
from cogvault.types import JsonValue

MAX_TITLE_CHARS = 1000

_WIKI = re.compile(r"\[\[([^\[\]|#^]+)[^\[\]]*\]\]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_YES = frozenset({"true", "yes", "on", "1", "y"})
_NO = frozenset({"false", "no", "off", "0", "n", ""})


@dataclass(frozen=True, slots=True)
class Known:
    """Values of the known keys, flat or nested under ``metadata:`` (flat wins); see ``types.Card``."""

    title: str = ""
    name: str | None = None
    description: str = ""
    type: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    updated: datetime | None = None
    date: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    importance: float | None = None
    pinned: bool = False
    source: str | None = None
    faults: tuple[Fault, ...] = field(default=())


def read(block: Frontmatter) -> Known:
    """Read the known keys of a parsed block."""
    if not block.values:
        return Known(faults=block.faults)
    reader = _Reader(block)
    reader.date("review_by")  # read where it is needed; told here when it is no date
    reader.look_for_misnamed()
    return Known(
        title=(reader.text("title") or "")[:MAX_TITLE_CHARS],
        name=reader.text("name"),
        description=reader.text("description") or "",
        type=reader.text("type"),
        tags=_unique(tag.lstrip("#").strip() for tag in reader.words("tags")),
        aliases=_unique(reader.words("aliases")),
        created=reader.date("created"),
        updated=reader.date("updated"),
        date=reader.date("date"),
        valid_from=reader.date("valid_from"),
        valid_until=reader.date("valid_until"),
        supersedes=_unique(_target(word) for word in reader.words("supersedes")),
        superseded_by=_unique(_target(word) for word in reader.words("superseded_by")),
        importance=reader.importance(),
        pinned=reader.flag("pinned"),
        source=reader.text("source"),
        faults=(*block.faults, *reader.faults),
    )


class _Reader:
    """Typed access to the values of a block; collects what cannot be read."""

    def __init__(self, block: Frontmatter) -> None:
        self._flat = block.values
        nested = block.values.get("metadata")
        self._nested = nested if isinstance(nested, dict) else {}
        self._lines = block.lines
        self.faults: list[Fault] = []

    def text(self, key: str) -> str | None:
        """One line of text, None when there is none. A list of one value is that value."""
        value = self._get(key)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, list | dict):
            self._fault(key, "should be text")
            return None
        return " ".join((as_text(value) or "").split()) or None

    def words(self, key: str) -> list[str]:
        """A list, comma text, or one word. Lists inside the list count as their items (``[[x]]`` without quotes)."""
        value = self._get(key)
        if not isinstance(value, list):
            text = self.text(key) or ""
            marked = text.split()
            return marked if marked and all(word.startswith("#") for word in marked) else text.split(",")
        found: list[str] = []
        waiting = list(reversed(value))
        while waiting:
            item = waiting.pop()
            if isinstance(item, list):
                waiting.extend(reversed(item))
            elif isinstance(item, dict):
                self._fault(key, "should be a list of words; a mapping in it is left out")
            else:
                found.append(as_text(item) or "")
        return found

    def date(self, key: str) -> datetime | None:
        """A date in UTC."""
        text = self.text(key)
        if text is None:
            return None
        moment = parse_date(text)
        if moment is None:
            self._fault(key, f"is no date: {text[:40]!r}", "date-invalid")
        return moment

    def importance(self) -> float | None:
        """A number from 0 to 1; outside of it the nearer end."""
        text = self.text("importance")
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            self._fault("importance", f"should be a number from 0 to 1, not {text[:40]!r}")
            return None
        number = float(text)
        if not 0 <= number <= 1:
            self._fault("importance", f"should be from 0 to 1; {text[:40]} is read as the nearer end")
        return min(1.0, max(0.0, number))

    def flag(self, key: str) -> bool:
        """A truth value; YAML's old words for it count too."""
        text = fold(self.text(key) or "")
        if text not in _YES | _NO:
            self._fault(key, f"should be true or false, not {text[:40]!r}")
        return text in _YES

    def look_for_misnamed(self) -> None:
        """Report keys that are not read because of how they are written."""
        for one in misnamed(self._flat):
            line = self._lines.get(one.key, self._lines.get("metadata"))
            self.faults.append(Fault("frontmatter-key", one.message, line, one.meant))

    def _get(self, key: str) -> JsonValue:
        value = self._flat.get(key)
        return self._nested.get(key) if value is None else value

    def _fault(self, key: str, message: str, code: str = "frontmatter-value") -> None:
        line = self._lines.get(key, self._lines.get("metadata"))
        self.faults.append(Fault(code, f"{key} {message}", line, key))


def _target(text: str) -> str:
    """A card's name out of ``[[name|text]]``, or the text itself."""
    match = _WIKI.search(text)
    return match[1] if match else text


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    """Words without blanks around them, each once whatever its case, in order."""
    kept: dict[str, str] = {}
    for word in words:
        if clean := " ".join(word.split()):
            kept.setdefault(fold(clean), clean)
    return tuple(kept.values())
