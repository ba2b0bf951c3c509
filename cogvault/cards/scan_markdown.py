"""Where the blocks of a Markdown text are. The one scanner that links, titles and chunks use, so that they never
disagree about what is code. Pure, linear in the text, without recursion.

It follows CommonMark for what cogvault needs (quotes, lists, fences, indented code, headings) and adds pipe tables and
dialogue turns. markdown-it-py would be the other way; measured, it takes more than ten times as long on cards of 1 to
2 KB, and it nests as deep as its input does, where this one stops opening containers at ``MAX_CONTAINERS``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

VERSION = "1"
# Quotes and lists nested deeper are read as text of the deepest one: bounds the work that one line can cause.
MAX_CONTAINERS = 24
MAX_HEADING_CHARS = 200
# What one parsed text may leave in memory; longer ones are scanned twice.
_REMEMBERED_CHARS = 64 * 1024

_QUOTE = -1
_SPACES = re.compile(r" *")
_FENCE = re.compile(r"`{3,}+(?=[^`]*+$)|~{3,}+")
_HEADING = re.compile(r"(#{1,6})(?:[ ](.*))?$")
_CLOSING_HASHES = re.compile(r"(?:^|[ ])#+[ ]*$")
_UNDERLINE = re.compile(r"(?:=++|-++)[ ]*+$")
_RULE = re.compile(r"(?:(?:-[ ]*+){3,}+|(?:\*[ ]*+){3,}+|(?:_[ ]*+){3,}+)$")
_MARKER = re.compile(r"([-+*]|([0-9]{1,9})[.)])([ ]+|$)")
_DELIMITER_ROW = re.compile(r"\|?[ ]*+:?-++:?[ ]*+(?:\|[ ]*+:?-++:?[ ]*+)*+\|?[ ]*+$")
_TURN = re.compile(r"\*\*([^*]{1,80})\*\*[ \t]*(?:[(（]([^()（）]{1,60})[)）][ \t]*)?[:：][ \t]*")
_INLINE_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
# A line that starts with none of these can only be text.
_SPECIAL = frozenset(" \t#>-+*`~=_0123456789|:")


def without_mark(turn: str) -> str:
    """A dialogue turn without the mark that tells its speaker and time."""
    mark = _TURN.match(turn)
    return turn[mark.end() :] if mark else turn


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    FENCE = "fence"
    CODE = "code"
    RULE = "rule"
    TURN = "turn"


CODE_KINDS = frozenset({BlockKind.FENCE, BlockKind.CODE})
_PROSE_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.TURN})
_TEXT_KINDS = _PROSE_KINDS | {BlockKind.TABLE}


class Block(NamedTuple):
    """A run of lines. Every line that is not blank is in exactly one block; a fence holds the blank lines inside it.

    Attributes:
        start: index of its first line, from 0.
        end: index after its last line.
        group: blocks of one list or quote, nested ones included, share a number.
        level: 1 to 6 for a heading, else 0.
        text: a heading's text without markup, at most 200 characters; a turn's speaker.
        at: a turn's time as it is written, or "".
        offset: characters of a turn's first line before what is said.
    """

    kind: BlockKind
    start: int
    end: int
    group: int
    level: int = 0
    text: str = ""
    at: str = ""
    offset: int = 0


def blocks_of(body: str) -> tuple[Block, ...]:
    """Blocks of a text's lines. The last text's are remembered: a card is parsed, and right after that chunked.

    A parser gives a ``Card`` and no more (``protocols.CardParser``), which others may implement without this scanner:
    so blocks are found by the text that they are of, and not handed on.
    """
    return _remembered(body) if len(body) <= _REMEMBERED_CHARS else _scanned(body)


def _scanned(body: str) -> tuple[Block, ...]:
    return tuple(scan(body.split("\n")))


_remembered = lru_cache(1)(_scanned)


def scan(lines: Sequence[str]) -> list[Block]:
    """Blocks of a text in order. Headings count outside of lists and quotes only."""
    scanner = _Scanner(lines)
    for index, line in enumerate(lines):
        scanner.feed(index, line)
    scanner.close_leaf()
    return scanner.blocks


class _Scanner:
    """What is open between two lines.

    ``containers`` holds ``_QUOTE`` for a quote and for a list item the columns that its content is indented by.
    ``leaf`` is the kind of the open block, ``leaf_start`` to ``leaf_end`` its lines so far. ``bare_item`` is the last
    line that held a list marker and nothing else.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.containers: list[int] = []
        self.leaf: BlockKind | None = None
        self.leaf_start = 0
        self.leaf_end = 0
        self.turn: tuple[str, str, int] = ("", "", 0)
        self.fence = ""
        self.group = 0
        self.bare_item = -2

    def feed(self, index: int, raw: str) -> None:
        """Read the next line."""
        leaf = self.leaf
        if not self.containers and raw[:1] not in _SPECIAL and (leaf is None or leaf in _TEXT_KINDS):
            if not raw or raw.isspace():
                self.close_leaf()
            else:
                self._text(index)
            return
        line = raw.expandtabs(4) if "\t" in raw else raw
        blank = not line or line.isspace()
        position, matched = self._match_containers(line, blank)
        if leaf is BlockKind.FENCE:
            if matched == len(self.containers):
                self._in_fence(index, line, position)
                return
            self.close_leaf()
        if blank:
            # An item that starts with a blank line ends with a second one.
            self._close_containers(matched - 1 if matched and self.bare_item == index - 1 else matched)
            if self.leaf is not BlockKind.CODE:
                self.close_leaf()
            return
        self._block_start(index, line, position, matched)

    def close_leaf(self) -> None:
        """End the open block."""
        if self.leaf is None:
            return
        if self.leaf is BlockKind.TURN:
            speaker, at, offset = self.turn
            block = Block(self.leaf, self.leaf_start, self.leaf_end, self.group, 0, speaker, at, offset)
        else:
            block = Block(self.leaf, self.leaf_start, self.leaf_end, self.group)
        self.blocks.append(block)
        self.leaf = None

    def _match_containers(self, line: str, blank: bool) -> tuple[int, int]:
        """Position after the marks of the open containers, and how many of them the line continues."""
        position = matched = 0
        for container in self.containers:
            if container == _QUOTE:
                start = _end_of_spaces(line, position)
                if start - position > 3 or not line.startswith(">", start):
                    break
                position = _after_quote(line, start)
            elif not blank:
                if line[position : position + container].strip(" "):
                    break
                position += container
            matched += 1
        return position, matched

    def _close_containers(self, matched: int) -> None:
        if matched < len(self.containers):
            self.close_leaf()
            del self.containers[matched:]

    def _in_fence(self, index: int, line: str, position: int) -> None:
        """A line of the open fence, perhaps its last."""
        rest = line[position:]
        mark = rest.strip(" ")
        if line.strip():
            self.leaf_end = index + 1
        if mark.startswith(self.fence) and not mark.strip(self.fence[0]) and not rest.startswith("    "):
            self.close_leaf()

    def _block_start(self, index: int, line: str, position: int, matched: int) -> None:
        """Find what a line that is not blank starts or continues."""
        continues = self.leaf if matched == len(self.containers) else None
        lazy = continues is None and self.leaf in _PROSE_KINDS
        in_list = bool(self.containers) and self.containers[0] != _QUOTE
        start = _end_of_spaces(line, position)
        if continues is BlockKind.PARAGRAPH and "|" in line and self._table(index, line, start):
            return
        while start - position <= 3 and len(self.containers) < MAX_CONTAINERS:
            container = _container_at(line, position, start, continues)
            if container is None:
                break
            self._close_containers(matched)
            self.close_leaf()
            if not self.containers and (container == _QUOTE or not in_list):
                self.group += 1
            self.containers.append(container)
            position = min(len(line), _after_quote(line, start) if container == _QUOTE else position + container)
            start = _end_of_spaces(line, position)
            matched, continues, lazy = len(self.containers), None, False
        if start == len(line):
            kind: BlockKind | None = BlockKind.RULE
            if self.containers and self.containers[-1] != _QUOTE:
                self.bare_item = index
        elif start - position > 3:
            kind = None if lazy or continues in _PROSE_KINDS else BlockKind.CODE
        else:
            kind = _leaf_at(line, start, continues, nested=matched > 0)
        if kind is None and (lazy or continues in _TEXT_KINDS):
            self.leaf_end = index + 1
            return
        self._close_containers(matched)
        self._leaf(kind or BlockKind.PARAGRAPH, index, line, start)

    def _leaf(self, kind: BlockKind, index: int, line: str, start: int) -> None:
        """Open, or for indented code continue, the block that a line starts."""
        if kind is BlockKind.CODE and self.leaf is BlockKind.CODE:
            self.leaf_end = index + 1
            return
        if kind is BlockKind.HEADING:
            self._heading(index, line, start)
            return
        self._open_leaf(kind, index)
        if kind is BlockKind.FENCE:
            self.fence = _FENCE.match(line, start).group()  # type: ignore[union-attr]
        elif kind is BlockKind.TURN:
            turn = _TURN.match(self.lines[index], start)
            assert turn is not None
            self.turn = (" ".join(turn[1].split()), (turn[2] or "").strip(), turn.end())
        elif kind is BlockKind.RULE:
            self.close_leaf()

    def _text(self, index: int) -> None:
        """A line of plain text."""
        if self.leaf is None:
            self._open_leaf(BlockKind.PARAGRAPH, index)
        else:
            self.leaf_end = index + 1

    def _open_leaf(self, kind: BlockKind, index: int) -> None:
        self.close_leaf()
        if not self.containers:
            self.group += 1
        self.leaf, self.leaf_start, self.leaf_end = kind, index, index + 1

    def _heading(self, index: int, line: str, start: int) -> None:
        """A line of hashes, or the underline of the open paragraph."""
        if line[start] == "#":
            marks, text = _HEADING.match(line, start).groups()  # type: ignore[union-attr]
            level, first, text = len(marks), index, (text or "")[: 2 * MAX_HEADING_CHARS]
            self.close_leaf()
        else:
            level, first = (1 if line[start] == "=" else 2), self.leaf_start
            text = " ".join(part.strip() for part in self.lines[first : min(index, first + 4)])
            self.leaf = None
        self.group += 1
        self.blocks.append(Block(BlockKind.HEADING, first, index + 1, self.group, level, heading_text(text)))

    def _table(self, index: int, line: str, start: int) -> bool:
        """Turn the last line of the open paragraph into a table's head when this line is the rule below it."""
        if "|" not in self.lines[index - 1] or not _DELIMITER_ROW.match(line, start):
            return False
        if self.leaf_start < index - 1:
            self.leaf_end = index - 1
            self._open_leaf(BlockKind.TABLE, index - 1)
        self.leaf, self.leaf_end = BlockKind.TABLE, index + 1
        return True


def heading_text(raw: str) -> str:
    """A heading's words: closing hashes, emphasis, code marks and link targets left out.

    >>> heading_text("The **new** [[auth|login]] flow ##")
    'The new login flow'
    """
    text = _CLOSING_HASHES.sub("", raw[: 2 * MAX_HEADING_CHARS])
    text = _INLINE_LINK.sub(lambda match: match[1] or match[2] or "", text)
    return " ".join(text.replace("**", "").replace("`", "").split())[:MAX_HEADING_CHARS].rstrip()


def _end_of_spaces(line: str, position: int) -> int:
    return _SPACES.match(line, position).end()  # type: ignore[union-attr]


def _after_quote(line: str, start: int) -> int:
    return start + 2 if line.startswith(" ", start + 1) else start + 1


def _container_at(line: str, position: int, start: int, continues: BlockKind | None) -> int | None:
    """The container that begins at ``start``: ``_QUOTE``, the width of a list item, or None."""
    char = line[start : start + 1]
    if char == ">":
        return _QUOTE
    if not char or char not in "-+*0123456789" or (char in "-*" and _RULE.match(line, start)):
        return None
    marker = _MARKER.match(line, start)
    if marker is None:
        return None
    empty, number, spaces = marker.end() == len(line), marker[2], len(marker[3])
    if continues in _PROSE_KINDS and (empty or (number is not None and int(number) != 1)):
        return None
    return marker.end(1) - position + (1 if empty or spaces > 4 else spaces)


def _leaf_at(line: str, start: int, continues: BlockKind | None, *, nested: bool) -> BlockKind | None:
    """The block that begins at ``start``, or None for text. Headings and turns stand outside of lists and quotes."""
    char = line[start]
    if char in "`~":
        return BlockKind.FENCE if _FENCE.match(line, start) else None
    if char == "#":
        return BlockKind.HEADING if not nested and _HEADING.match(line, start) else None
    if char in "=-" and continues is BlockKind.PARAGRAPH and not nested and _UNDERLINE.match(line, start):
        return BlockKind.HEADING
    if char in "-*_" and _RULE.match(line, start):
        return BlockKind.RULE
    if char == "*" and not nested and continues in (None, BlockKind.TURN) and _TURN.match(line, start):
        return BlockKind.TURN
    return None
