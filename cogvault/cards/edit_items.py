"""Items of a list in a frontmatter block, exchanged where they stand. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from cogvault.cards.yaml_values import format_value
from cogvault.types import JsonValue

__all__ = ["exchange_items"]


def exchange_items(block: str, line: int, old: Sequence[JsonValue], new: Sequence[JsonValue]) -> str | None:
    """The block with other items in one list: each in the place of the old one, with its quotes; all else stays.

    Args:
        block: a block that ``entries_of`` takes.
        line: of the list's key, from 0.
        old: what the list holds.
        new: what it is to hold: as many, or in brackets more, which come behind the last.

    Returns:
        None when there are fewer, or an item that changes does not stand as text in one line.
    """
    held = next((value for key, value in _pairs(block) if key.start_mark.line == line), None)
    added = new[len(old) :]
    if not isinstance(held, yaml.SequenceNode) or (added and not held.flow_style):
        return None
    nodes: list[yaml.Node] = held.value
    if not nodes or len(nodes) != len(old) or len(new) < len(old):
        return None
    end = nodes[-1].end_mark.index
    block = f"{block[:end]}{''.join(f', {_in_brackets(item)}' for item in added)}{block[end:]}"
    for node, before, after in reversed(list(zip(nodes, old, new, strict=False))):
        if before == after:
            continue
        start, stop = node.start_mark, node.end_mark
        if not isinstance(node, yaml.ScalarNode) or not line <= start.line == stop.line:
            return None
        quotes = node.style if node.style in ('"', "'") else None
        text = format_value(after, quotes=quotes) if quotes else _in_brackets(after)
        block = f"{block[: start.index]}{text}{block[stop.index :]}"
    return block


def _in_brackets(item: JsonValue) -> str:
    """An item of a list in brackets, where more has to be quoted than elsewhere."""
    return format_value([item])[1:-1]


def _pairs(block: str) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Keys and values of the block, and of the mappings in it."""
    root = yaml.compose(block, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        yield key, value
        if isinstance(value, yaml.MappingNode):
            yield from value.value
