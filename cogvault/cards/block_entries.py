"""Where each key of a frontmatter block stands: its lines, its value, its style. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

from cogvault.errors import CardError

__all__ = ["Entry", "entries_of"]

_HINT = "write one key a line; nothing was changed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a block and its value. Lines count from 0 at the block's first line; ``end`` is not included.

    Attributes:
        key: the key's text.
        indent: blanks before it.
        first: its line.
        end: line behind its value, blank lines and comments that follow not included.
        after_colon: column behind the colon.
        span: columns of a value that stands in the key's own line; None = it takes more lines, or is an alias.
        quotes: ``"`` or ``'`` of a quoted value.
        is_flow: the value is a list or mapping in brackets.
        items: lines of each item of a list that has one item a line, relative to ``first``.
        children: entries of a mapping that has one key a line.
    """

    key: str
    indent: str
    first: int
    end: int
    after_colon: int
    span: tuple[int, int] | None = None
    quotes: str | None = None
    is_flow: bool = False
    items: tuple[tuple[int, int], ...] | None = None
    children: tuple[Entry, ...] = field(default=())


def entries_of(block: str) -> tuple[Entry, ...]:
    """Entries of a block that ``frontmatter.parse`` can read.

    Raises:
        CardError: the keys do not each have lines of their own.
    """
    try:
        # The pure loader: its marks count characters.
        root = yaml.compose(block, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise CardError("the frontmatter cannot be edited key by key", hint=_HINT) from error
    if root is None or isinstance(root, yaml.ScalarNode):
        return ()
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise CardError("the frontmatter stands in brackets", line=2, hint=_HINT)
    return _Block(block).entries(root, block.count("\n"), 0)


class _Block:
    """A block, and its lines by offset."""

    def __init__(self, block: str) -> None:
        self._text = block
        self._lines = block.split("\n")

    def entries(self, mapping: yaml.MappingNode, end: int, depth: int) -> tuple[Entry, ...]:
        """Entries of a mapping whose lines end before ``end``."""
        pairs = mapping.value
        starts = [self._line(key.start_mark.index) for key, _ in pairs]
        if len(set(starts)) < len(starts):
            raise CardError("two keys of the frontmatter share a line", line=starts[0] + 2, hint=_HINT)
        ends = [*starts[1:], end]
        return tuple(
            self._entry(key, value, first, last, depth)
            for (key, value), first, last in zip(pairs, starts, ends, strict=True)
        )

    def _entry(self, key: yaml.Node, value: yaml.Node, first: int, last: int, depth: int) -> Entry:
        column = self._column(key.start_mark.index)
        indent = self._lines[first][:column]
        if not isinstance(key, yaml.ScalarNode) or indent.strip(" "):
            raise CardError("a key of the frontmatter does not start its line", line=first + 2, hint=_HINT)
        colon = self._text.find(":", key.end_mark.index)
        after_colon = self._column(colon) + 1
        is_alias = value.start_mark.index < key.end_mark.index
        end = self._trimmed(first, last, len(indent), isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"))
        is_flow = isinstance(value, yaml.CollectionNode) and bool(value.flow_style)
        span = None
        if (
            not is_alias
            and (isinstance(value, yaml.ScalarNode) or is_flow)
            and self._line(value.end_mark.index) == first
        ):
            span = (self._column(value.start_mark.index), self._column(value.end_mark.index))
        quotes = value.style if isinstance(value, yaml.ScalarNode) and value.style in ('"', "'") else None
        items: tuple[tuple[int, int], ...] | None = None
        children: tuple[Entry, ...] = ()
        if isinstance(value, yaml.SequenceNode) and not is_flow and not is_alias:
            items = self._items(value.value, first, end)
        if isinstance(value, yaml.MappingNode) and not is_flow and not is_alias and depth == 0:
            children = self.entries(value, end, depth + 1)
        return Entry(key.value, indent, first, end, after_colon, span, quotes, is_flow, items, children)

    def _items(self, nodes: Sequence[yaml.Node], first: int, end: int) -> tuple[tuple[int, int], ...] | None:
        """Lines of each item, None when an item does not stand right behind a dash that starts its line."""
        starts = [self._line(node.start_mark.index) for node in nodes]
        for node, line in zip(nodes, starts, strict=True):
            before = self._lines[line][: self._column(node.start_mark.index)]
            if before.strip(" ") != "-" or line <= first:
                return None
        if sorted(set(starts)) != starts:
            return None
        ends = [*starts[1:], end]
        return tuple((line - first, last - first) for line, last in zip(starts, ends, strict=True))

    def _trimmed(self, first: int, last: int, indent: int, is_block_text: bool) -> int:
        """The end without blank lines and comments that stand before the next key."""
        while last > first + 1:
            line = self._lines[last - 1]
            text = line.lstrip(" ")
            is_comment = text.startswith("#") and not (is_block_text and len(line) - len(text) > indent)
            if text.strip() and not is_comment:
                break
            last -= 1
        return last

    def _line(self, offset: int) -> int:
        return self._text.count("\n", 0, offset)

    def _column(self, offset: int) -> int:
        return offset - (self._text.rfind("\n", 0, offset) + 1)
