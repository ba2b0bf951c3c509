"""Values that stand below the name that says that they are secrets: on the next line, in a block, in a table. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cogvault.text.secret_names import NAME, SIGN, listed, may_name, shortest_of, shortest_under

__all__ = ["assigned_below"]

# Marks of quotes, lists and YAML's long keys in front of what a line says.
_LEAD = re.compile(r"[ \t>]*(?:(?:[-+*?:]|[0-9]{1,9}[.)])[ \t]+)*")
_LIST_MARK = re.compile(r"[-+*0-9]")
# A name that ends its line, perhaps with the beginning of a block or list behind it; or that is all of a heading or
# line.
_LABEL = re.compile(rf"{NAME}{SIGN}(?:[&!][\w!.:/-]+)?[ \t]*(?:[|>][-+0-9]*|[\[{{\"'])?[ \t]*(?:\#.*)?\Z")
_BARE_LABEL = re.compile(rf"(?:\#{{1,6}}[ \t].{{0,60}}?)?[\"'*_`]*{NAME}[\"'*_`]*[ \t#]*\Z")
# What makes a heading of the line above.
_UNDERLINE = re.compile(r"(?:=+|-+)\Z")
# The name and the value of an entry of a list, one below the other, as in Kubernetes; no reference, nothing to fill in.
_ENTRY = re.compile(rf"[\"']?(?:name|key)[\"']?[ \t]*:[ \t]+[\"']?[\w .-]{{0,60}}?{NAME}[\"']?,?\Z")
_VALUE = re.compile(r"[\"']?value[\"']?[ \t]*:[ \t]+(?![ \t\"']*[$<{(\[%&*|!])")
_FENCE = re.compile(r"(?:`{3,}|~{3,})[^`]*\Z")
_COMMENT = re.compile(r"[ \t]+#.*\Z")
_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
# Lines below a name that are looked at, and the longest that is.
_LINES = 40
_LONGEST = 2_000


def assigned_below(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the values that stand on lines below such a name, in order."""
    if not may_name(text):
        return
    above: _Name | _Entry | None = None
    columns: _Columns | None = None
    start, before = 0, ""
    for line in text.split("\n"):
        short = line.rstrip() if len(line) <= _LONGEST else ""
        lead = _lead(short)
        content = short[lead.column :]
        for found in above, columns:
            for first, last in [] if found is None else found.values(short, lead):
                yield start + first, start + last
        above = None if above is None else above.after(lead, content)
        above = (_heading(before) if _UNDERLINE.match(content) else _named(lead.column, content)) or above
        columns = _columns(before) if _RULE.match(short) and "|" in short else columns if "|" in short else None
        start, before = start + len(line) + 1, short


@dataclass(frozen=True, slots=True)
class _Lead:
    """What stands before the content of a line: its width, and whether that makes it an item of a list."""

    column: int
    is_item: bool


def _lead(line: str) -> _Lead:
    match = _LEAD.match(line)
    assert match is not None
    return _Lead(match.end(), _LIST_MARK.search(match[0]) is not None)


def _heading(line: str) -> _Name | _Entry | None:
    """The name in a line that the next one underlines; a line with a colon may be the last key of a frontmatter."""
    column = _lead(line).column
    content = line[column:]
    return _named(column, content if ":" in content else f"# {content}")


def _named(column: int, content: str) -> _Name | _Entry | None:
    if not may_name(content):
        return None
    if (label := _LABEL.search(content) or _BARE_LABEL.match(content)) is not None:
        return _Name(column, shortest_of(label))
    entry = _ENTRY.match(content)
    return None if entry is None else _Entry(column, shortest_of(entry))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name that is itself a value: what the very next line calls its value belongs to it."""

    column: int
    shortest: int

    def values(self, line: str, lead: _Lead) -> Iterator[tuple[int, int]]:
        content = _COMMENT.sub("", line[lead.column :])
        if lead.column == self.column and not lead.is_item and _VALUE.match(content):
            yield from listed(content, lead.column, self.shortest)

    def after(self, lead: _Lead, content: str) -> None:
        """Nothing else belongs to it."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that ended its line.

    Attributes:
        column: where the content of that line begins; what is deeper belongs to the name.
        shortest: how long a value has to be.
        lines: that are looked at yet.
        is_next: whether nothing has stood below it so far: one value in its own column belongs to it too.
    """

    column: int
    shortest: int
    lines: int = _LINES
    is_next: bool = True

    def values(self, line: str, lead: _Lead) -> Iterator[tuple[int, int]]:
        content = _COMMENT.sub("", line[lead.column :])
        is_beside = self.is_next and lead.column == self.column and not lead.is_item and ":" not in content
        if not _FENCE.match(content) and (lead.column > self.column or is_beside):
            yield from listed(content, lead.column, self.shortest)

    def after(self, lead: _Lead, content: str) -> _Name | None:
        """The name for the next line; None = what belongs to it has ended."""
        if not self.lines:
            return None
        if not content or _FENCE.match(content):
            return replace(self, lines=self.lines - 1)
        return replace(self, lines=self.lines - 1, is_next=False) if lead.column > self.column else None


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a table whose head is such a name, by number, with how long a value there has to be."""

    shortest: dict[int, int]

    def values(self, line: str, lead: _Lead) -> Iterator[tuple[int, int]]:
        at = 0
        for number, cell in enumerate(line.split("|")):
            if number in self.shortest:
                inner = cell.strip(" \t*_`")
                yield from listed(inner, at + cell.find(inner), self.shortest[number])
            at += len(cell) + 1


def _columns(head: str) -> _Columns | None:
    shortest = {number: length for number, cell in enumerate(head.split("|")) if (length := _of_head(cell)) is not None}
    return _Columns(shortest) if shortest else None


def _of_head(cell: str) -> int | None:
    return shortest_under(cell.strip(" \t*_`"))
