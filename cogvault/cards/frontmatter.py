"""The YAML block at the top of a card: where it is, and what it says. Pure; never raises on content.

Values are built from YAML events, not by a YAML loader: depth and alias expansion are bounded before anything grows,
and a scalar becomes a number, truth value or null only when JSON writes that value with the very same characters.
So ``2026-05-26``, ``1.10``, ``007`` and ``yes`` stay text, and a value turned back into text loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import yaml

from cogvault.types import EMPTY_META, JsonValue

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: slower, same events
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_DEPTH = 32
# Characters and nodes that aliases may add to what stands in the block.
MAX_ALIAS_GROWTH = 64 * 1024

# More faults of one block say nothing new.
MAX_FAULTS = 20

_FENCE = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSER = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}")


class State(StrEnum):
    """What stands at the top of a file."""

    NONE = "none"
    CLOSED = "closed"
    UNTERMINATED = "unterminated"


@dataclass(frozen=True, slots=True)
class Split:
    """A file's text, cut at its frontmatter.

    Attributes:
        block: YAML between the fences, "" when there is none.
        body: text below the closing fence; the whole text when there is no closed block.
        body_line: 1-based line on which ``body`` starts.
    """

    state: State
    block: str
    body: str
    body_line: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a block.

    Attributes:
        line: 1-based line in the file.
    """

    code: str
    message: str
    line: int | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A parsed block.

    Attributes:
        values: every key with its value; keys as written, the last of equal keys wins.
        lines: 1-based line in the file of each key.
        faults: what is wrong with it.
        valid: False when the block could not be read at all.
    """

    values: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY_META)
    lines: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    valid: bool = True


def split(text: str) -> Split:
    """Find the block of a text whose newlines are ``\\n`` and whose BOM is gone.

    A fence is a line of exactly three dashes (blanks may follow); the opening one is the first line of the file.
    """
    opening = _FENCE.match(text)
    if opening is None:
        return Split(State.NONE, "", text, 1)
    closing = _CLOSER.search(text, opening.end())
    if closing is None:
        return Split(State.UNTERMINATED, "", text, 1)
    block = text[opening.end() : closing.start()]
    return Split(State.CLOSED, block, text[closing.end() :], block.count("\n") + 3)


def parse(block: str) -> Frontmatter:
    """Read a block found by ``split``. Nothing usable in it gives no values and the reason."""
    try:
        return _Builder().build(block)
    except _Refused as refused:
        return Frontmatter(faults=(refused.fault,), valid=False)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 2
        reason = error.problem or error.context or "not YAML"
        return _invalid(f"the frontmatter is not valid YAML: {reason}", line)
    except yaml.reader.ReaderError as error:
        return _invalid(f"the frontmatter is not valid YAML: {error.reason}", _line_of(block, error.position))
    except (yaml.YAMLError, ValueError) as error:
        return _invalid(f"the frontmatter is not valid YAML: {error}", None)


def as_text(value: JsonValue) -> str | None:
    """A scalar as it was written; None for null, lists and mappings."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


def _invalid(message: str, line: int | None) -> Frontmatter:
    return Frontmatter(faults=(Fault("frontmatter-invalid", message, line),), valid=False)


def _line_of(block: str, position: int) -> int:
    return block.count("\n", 0, position) + 2


class _Refused(Exception):
    """The block is refused as a whole."""

    def __init__(self, code: str, message: str, line: int) -> None:
        super().__init__(message)
        self.fault = Fault(code, message, line)


@dataclass(slots=True)
class _Node:
    """A list or mapping under construction. ``key`` is the mapping key that waits for its value."""

    value: list[JsonValue] | dict[str, JsonValue]
    anchor: str | None
    size_before: int
    key: str | None = None
    wants_key: bool = True


class _Builder:
    """Events to values, without recursion. ``size`` counts nodes and characters with aliases expanded."""

    def __init__(self) -> None:
        self.stack: list[_Node] = []
        self.root: JsonValue = None
        self.empty = True
        self.size = 0
        self.growth = 0
        self.anchors: dict[str, tuple[JsonValue, int]] = {}
        self.lines: dict[str, int] = {}
        self.faults: list[Fault] = []

    def build(self, block: str) -> Frontmatter:
        for event in yaml.parse(block, Loader=_Loader):
            line = event.start_mark.line + 2 if event.start_mark else 2
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event, line)
            elif isinstance(event, yaml.MappingStartEvent):
                self._open({}, event.anchor, line)
            elif isinstance(event, yaml.SequenceStartEvent):
                self._open([], event.anchor, line)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(line)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor or "", line)
        if isinstance(self.root, dict):
            return Frontmatter(self.root, self.lines, tuple(self.faults[:MAX_FAULTS]))
        if self.empty:  # it can take new keys; anything else would have to be thrown away to edit it
            return Frontmatter(faults=(Fault("frontmatter-empty", "the frontmatter block is empty", 1),))
        kind = "a list" if isinstance(self.root, list) else "plain text"
        message = f"the frontmatter is {kind}, not keys with values"
        return Frontmatter(faults=(Fault("frontmatter-not-mapping", message, 1),), valid=False)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self.size += 1 + len(event.value)
        node = self.stack[-1] if self.stack else None
        if node is not None and isinstance(node.value, dict) and node.wants_key:
            self._name(node, event.value, line)
            return
        value = _resolve(event.value) if event.implicit[0] else event.value
        if event.anchor:
            self.anchors[event.anchor] = (value, 1 + len(event.value))
        self._add(value, line)

    def _name(self, node: _Node, key: str, line: int) -> None:
        """Take a scalar as the key of the mapping under construction."""
        assert isinstance(node.value, dict)
        if key in node.value:
            message = f"the key {key!r} stands here again; the last one counts"
            self.faults.append(Fault("frontmatter-duplicate-key", message, line, key))
        if len(self.stack) == 1:
            self.lines[key] = line
        node.key, node.wants_key = key, False

    def _open(self, value: list[JsonValue] | dict[str, JsonValue], anchor: str | None, line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _Refused("frontmatter-too-deep", f"the frontmatter nests deeper than {MAX_DEPTH} levels", line)
        self.stack.append(_Node(value, anchor, self.size))
        self.size += 1

    def _close(self, line: int) -> None:
        node = self.stack.pop()
        if node.anchor:
            self.anchors[node.anchor] = (node.value, self.size - node.size_before)
        self._add(node.value, line)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise _Refused("frontmatter-invalid", f"the alias *{anchor} has no complete value before it", line)
        value, size = self.anchors[anchor]
        self.size += size
        self.growth += size
        if self.growth > MAX_ALIAS_GROWTH:
            raise _Refused("frontmatter-alias-bomb", "aliases in the frontmatter expand beyond all measure", line)
        self._add(value, line)

    def _add(self, value: JsonValue, line: int) -> None:
        """Put a finished value where it belongs."""
        if not self.stack:
            self.root, self.empty = value, value is None
            return
        node = self.stack[-1]
        if isinstance(node.value, list):
            node.value.append(value)
        elif node.wants_key:
            self.faults.append(Fault("frontmatter-key", "a key of the frontmatter is not text; it is left out", line))
            node.key, node.wants_key = None, False
        else:
            if node.key is not None:
                # A key that stands again moves to its last place, as a reader of the file would expect.
                node.value.pop(node.key, None)
                node.value[node.key] = value
            node.key, node.wants_key = None, True


def _resolve(text: str) -> JsonValue:
    """A plain scalar: null, truth value, number, or the text it is."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if text[-1].isdigit():
        if _INT.fullmatch(text) and text != "-0":
            return int(text)
        if _FLOAT.fullmatch(text) and repr(float(text)) == text:
            return float(text)
    return text
