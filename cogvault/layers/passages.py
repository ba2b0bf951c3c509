"""What of a card's body is prose, what are its headings and what is still to do. Pure, one pass over the lines.

This reader looks for text to quote, not for blocks to cut: code, rules and markup around lines fall away, lines of a
paragraph become one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

# A larger body is represented by its beginning: bounds time and memory whatever a file holds.
MAX_BODY_CHARS = 400_000
# A longer passage is cut into pieces of about this.
PASSAGE_CHARS = 2_000
MAX_HEADINGS = 200
MAX_TODOS = 100
_MAX_LABEL_CHARS = 500
_MAX_WORD_CHARS = 40

_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r"(#{1,6})(?=[ \t])")
_CLOSING_HASHES = re.compile(r"(?<=[ \t])#+$")
_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?")
_RULE = re.compile(r"(?:[-_*=][ \t]*){3,}$")
_TABLE_RULE = re.compile(r"[|:\- \t]+$")
_TODO = re.compile(r"\b(?:TODO|FIXME)\b(?:\([^()]{0,40}\))?[:：]?[ \t]*(.*)")
_TURN = re.compile(r"\*\*([^*]{1,80})\*\*[ ]*(?:[(（][ ]*([^()（）]{1,60}?)[ ]*[)）][ ]*)?[:：][ ]*")
# Marks of bold, which would stand at the wrong side of a sentence's end; not inside code.
_BOLD = re.compile(r"(`[^`]*`)|\*\*")
# Han and kana: lines of these join without a blank.
_SPACELESS = re.compile(r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff65]")


class Heading(NamedTuple):
    """A heading: its level, 1 to 6, and its text."""

    level: int
    text: str


class Passage(NamedTuple):
    """A paragraph, a list item or what was said in a turn, on one line.

    Attributes:
        section: number of headings above it.
        speaker: who says it, or the bold label it starts with; "" = nobody.
        at: when, as it is written, or "".
        opens: True for the first passage of a turn.
        row: True for a row of a table, which is not made of sentences.
    """

    text: str
    section: int
    speaker: str = ""
    at: str = ""
    opens: bool = False
    row: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A body, read. ``todos`` are open tasks."""

    passages: tuple[Passage, ...]
    headings: tuple[Heading, ...]
    todos: tuple[str, ...]


def read(body: str) -> Reading:
    """Read a card's body; beyond ``MAX_BODY_CHARS`` characters it is not looked at."""
    reader = _Reader()
    for line in body[:MAX_BODY_CHARS].split("\n"):
        reader.feed(line)
    reader.flush()
    return Reading(tuple(reader.passages), tuple(reader.headings), tuple(reader.todos))


class _Reader:
    """The passage that is open, and what was read before it."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.headings: list[Heading] = []
        self.todos: list[str] = []
        self.open: list[str] = []
        self.speaker = ""
        self.at = ""
        self.opens = False
        self.fence = ""
        self.in_list = False

    def feed(self, line: str) -> None:
        text = line.strip()
        if self.fence:
            if text.startswith(self.fence) and not text.strip(self.fence[0]):
                self.fence = ""
        elif not text:
            self.flush()
        elif text[0].isalpha():
            if self._is_code(line):
                return
            self._prose(text, line)
        else:
            self._marked(text, line)

    def flush(self) -> None:
        """End the open passage."""
        if self.open:
            self._add(_one_line(self.open))
            self.open = []

    def _add(self, text: str, *, row: bool = False) -> None:
        if "**" in text:
            text = _BOLD.sub(lambda match: match[1] or "", text)
        # Pieces of one size, so that no tail of a few words passes for a sentence.
        size = -(-len(text) // max(1, -(-len(text) // PASSAGE_CHARS)))
        start = 0
        while start < len(text):
            end = start + size
            if end < len(text):
                space = text.find(" ", end, end + _MAX_WORD_CHARS)
                end = space if space > 0 else end
            if piece := text[start:end].strip():
                self.passages.append(Passage(piece, len(self.headings), self.speaker, self.at, self.opens, row))
                self.opens = False
            start = end

    def _is_code(self, line: str) -> bool:
        """Indented code: four columns in, and neither inside a paragraph nor a list."""
        return not self.open and not self.in_list and line.startswith(("    ", "\t"))

    def _prose(self, text: str, line: str) -> None:
        if not self.open and not line[0].isspace():
            self.in_list = False
        if ("TODO" in text or "FIXME" in text) and (todo := _TODO.search(text)) and todo[1]:
            self._todo(todo[1])
        self.open.append(text)

    def _marked(self, text: str, line: str) -> None:
        """A line that starts with something other than a letter: perhaps markup."""
        if text[0] == ">":
            text = text.lstrip("> \t")
        if not text:
            self.flush()
        elif fence := _FENCE.match(text):
            if fence[1][0] == "~" or "`" not in fence[2]:
                self.flush()
                self.fence = fence[1]
            else:
                self.open.append(text)
        elif self._is_code(line):
            return
        elif heading := _HEADING.match(text):
            self._heading(heading.end(), _CLOSING_HASHES.sub("", text[heading.end() :]).strip())
        elif _RULE.match(text):
            self._rule(text)
        else:
            self._item_or_prose(text, line)

    def _item_or_prose(self, text: str, line: str) -> None:
        if item := _ITEM.match(text):
            self._item(text[item.end() :], item[1])
        elif text[0] == "|":
            self._row(text)
        elif turn := _TURN.match(text):
            self.flush()
            self.speaker, self.at, self.opens = turn[1].strip(), turn[2] or "", True
            self.open.append(text[turn.end() :])
            self.in_list = False
        else:
            self._prose(text, line)

    def _heading(self, level: int, text: str) -> None:
        self.flush()
        if text and len(self.headings) < MAX_HEADINGS:
            self.headings.append(Heading(level, text[:_MAX_LABEL_CHARS]))
        self.speaker = self.at = ""
        self.opens = self.in_list = False

    def _rule(self, text: str) -> None:
        """A thematic break, or the underline that makes the open paragraph a heading."""
        if self.open and not self.in_list and text[0] in "=-" and not text.strip(text[0]):
            title = _one_line(self.open)
            self.open = []
            self._heading(1 if text[0] == "=" else 2, title)
        else:
            self.flush()

    def _item(self, text: str, box: str | None) -> None:
        self.flush()
        self.in_list = True
        if box == " ":
            self._todo(text)
        elif text:
            self._prose(text, " ")

    def _row(self, text: str) -> None:
        self.flush()
        if not _TABLE_RULE.match(text) and (cells := text.strip("| \t")):
            self._add(cells, row=True)

    def _todo(self, text: str) -> None:
        if text and len(self.todos) < MAX_TODOS:
            self.todos.append(text[:_MAX_LABEL_CHARS])


def _one_line(lines: list[str]) -> str:
    """Lines of one paragraph as one."""
    if len(lines) == 1:
        return lines[0]
    text = " ".join(lines)
    if text.isascii():
        return text
    text = lines[0]
    for line in lines[1:]:
        glued = _SPACELESS.match(text[-1:]) and _SPACELESS.match(line)
        text += line if glued else f" {line}"
    return text
