"""Keys of a frontmatter block, set and unset; every line that belongs to no such key keeps its bytes. Pure.

Each edit is read back: a block that would not hold exactly the values it should is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cogvault.cards import frontmatter
from cogvault.cards.block_entries import Entry, entries_of
from cogvault.cards.edit_items import exchange_items
from cogvault.cards.fields import Known
from cogvault.cards.frontmatter import State
from cogvault.cards.source_text import SourceText, checked_text, open_source
from cogvault.cards.yaml_values import format_value
from cogvault.errors import CardError
from cogvault.types import JsonValue

__all__ = ["WORD_LISTS", "new_block", "set_keys"]

# Keys that may also stand nested under ``metadata:`` (spec section 4).
_NESTABLE = frozenset(Known.__dataclass_fields__) - {"faults"}
# Keys whose text is a list of words when it holds commas.
WORD_LISTS = frozenset({"tags", "aliases", "supersedes", "superseded_by"})
_METADATA = "metadata"
_HINT = "correct the frontmatter by hand; nothing was changed"

_Values = dict[str, JsonValue]


def set_keys(data: bytes, set: Mapping[str, JsonValue], unset: Iterable[str] = ()) -> bytes:
    """The card with some frontmatter keys set or taken away; a card without a block gets one.

    A key that stands nested under ``metadata:`` and nowhere else is changed there. Of a key that stands twice the last
    one is set, and both are unset. Values that are there already change nothing.

    Args:
        data: the card's file.
        set: values by key.
        unset: keys to take away; one that is not there is no fault. A block that is empty then goes too.

    Raises:
        CardError: the file or its frontmatter cannot be written without harm.
    """
    for key, value in set.items():
        data = _set(data, _checked_key(key), _checked_value(key, value))
    for key in unset:
        data = _unset(data, _checked_key(key))
    return data


def new_block(values: Mapping[str, JsonValue]) -> bytes:
    """A whole block for a new card, ``\\n`` at the ends of its lines.

    Raises:
        CardError: a value cannot be written as YAML.
    """
    lines = [_line("", _checked_key(key), _checked_value(key, value)) for key, value in values.items()]
    block = "".join(f"{line}\n" for line in lines)
    if not _holds(frontmatter.parse(block).values, values):
        raise CardError("these values cannot be written as frontmatter", key=", ".join(values))
    return f"---\n{block}---\n".encode()


def _set(data: bytes, key: str, value: JsonValue) -> bytes:
    source = open_source(data)
    if source.cut.state is State.NONE:
        return _verified(source.exchange(0, 0, ["---", _line("", key, value), "---"]), source, {key: value}, key)
    values = _values(source)
    nested = _nested(values, key)
    inside = key in nested and values.get(key) is None
    old = nested[key] if inside else values.get(key)
    if (inside or key in values) and (_same(old, value) or _same_words(key, old, value)):
        return data
    entries = entries_of(source.cut.block)
    if inside:
        expected = {**values, _METADATA: {**nested, key: value}}
        held = _last(entries, _METADATA)
        if held.is_flow:
            new = _replace(source, held, _METADATA, nested, expected[_METADATA])
        else:
            new = _replace(source, _last(held.children, key), key, old, value)
        return _verified(new, source, expected, key)
    if key in values:
        new = _replace(source, _last(entries, key), key, old, value)
    else:
        fence = source.body_start - 1
        new = source.exchange(fence, fence, [_line(entries[0].indent if entries else "", key, value)])
    return _verified(new, source, {**values, key: value}, key)


def _unset(data: bytes, key: str) -> bytes:
    source = open_source(data)
    if source.cut.state is State.NONE:
        return data
    values = _values(source)
    nested = _nested(values, key)
    if key not in values and key not in nested:
        return data
    entries = entries_of(source.cut.block)
    gone = [entry for entry in entries if entry.key == key]
    expected = {name: value for name, value in values.items() if name != key}
    if key in nested:
        held = _last(entries, _METADATA)
        rest: _Values = {name: value for name, value in nested.items() if name != key}
        if held.is_flow:
            new = _replace(source, held, _METADATA, dict(nested), rest)
            return _unset(_verified(new, source, {**values, _METADATA: rest}, key), key)
        gone += [child for child in held.children if child.key == key]
        expected[_METADATA] = rest or None
    new = data
    for entry in sorted(gone, key=lambda entry: entry.first, reverse=True):
        new = open_source(new).exchange(entry.first + 1, entry.end + 1, [])
    return _without_empty_block(_verified(new, source, expected, key))


def _without_empty_block(data: bytes) -> bytes:
    """The file without a block that says nothing, unless the body would be read as another one then."""
    source = open_source(data)
    if source.cut.block.strip():
        return data
    new = source.exchange(0, source.body_start, [])
    after = open_source(new).cut
    return new if after.state is State.NONE and after.body == source.cut.body else data


def _nested(values: _Values, key: str) -> _Values:
    """What stands under ``metadata:`` when a known key stands there; else nothing."""
    nested = values.get(_METADATA)
    return nested if key in _NESTABLE and isinstance(nested, dict) and key in nested else {}


def _replace(source: SourceText, entry: Entry, key: str, old: JsonValue, value: JsonValue) -> bytes:
    """The file with another value for one entry, in the style that the entry has."""
    first, end = entry.first + 1, entry.end + 1  # below the opening fence
    own = [line.rstrip("\r\n") for line in source.lines[first:end]]
    if isinstance(value, list) and isinstance(old, list):
        block = exchange_items(source.cut.block, entry.first, old, value)
        if block is not None and _says(block, key, value):
            return source.exchange(first, end, block.split("\n")[entry.first : entry.end])
    if isinstance(value, list) and entry.items is not None and isinstance(old, list):
        return source.exchange(first, end, _block_list(own, entry, old, value))
    if isinstance(value, list) and isinstance(old, str) and key in WORD_LISTS:
        value = _comma_text(value)
    text = format_value(value, key=key, quotes=entry.quotes)
    if entry.span is None:
        return source.exchange(first, end, [f"{own[0][: entry.after_colon]} {text}"])
    start, stop = entry.span
    line = own[0]
    blank = "" if start > entry.after_colon else " "
    return source.exchange(first, first + 1, [f"{line[:start]}{blank}{text}{line[stop:]}"])


def _says(block: str, key: str, value: JsonValue) -> bool:
    values = frontmatter.parse(block).values
    nested = values.get(_METADATA)
    return any(_same(held.get(key), value) for held in (values, nested) if isinstance(held, Mapping))


def _block_list(own: list[str], entry: Entry, old: list[JsonValue], value: list[JsonValue]) -> list[str]:
    """Lines of a list with one item a line. Items that stay keep their lines, with quotes and comments."""
    assert entry.items is not None
    if not value:
        return [f"{own[0][: entry.after_colon]} []"]
    kept, position = [], 0
    for index, item in enumerate(old):
        if position < len(value) and _same(item, value[position]):
            kept.append(index)
            position += 1
    base = entry.items[0][0]
    head = own[:base]
    lines = [line for index in kept for line in own[entry.items[index][0] : entry.items[index][1]]]
    dash = own[base][: len(own[base]) - len(own[base].lstrip())]
    return [*head, *lines, *(f"{dash}- {format_value(item)}" for item in value[position:])]


def _line(indent: str, key: str, value: JsonValue) -> str:
    return f"{indent}{format_value(key)}: {format_value(value, key=key)}"


def _comma_text(words: list[JsonValue]) -> JsonValue:
    """Words as the comma text that the card has, or the list where a word cannot stand in one."""
    if not words or not all(isinstance(word, str) and word and "," not in word for word in words):
        return words
    return ", ".join(map(str, words))


def _values(source: SourceText) -> _Values:
    """Values of the block.

    Raises:
        CardError: it cannot be read, so that nothing can be put into it.
    """
    if source.cut.state is State.UNTERMINATED:
        raise CardError("the frontmatter opens on line 1 and never closes", line=1, hint=_HINT)
    block = frontmatter.parse(source.cut.block)
    if not block.valid:
        fault = block.faults[0]
        raise CardError(fault.message, line=fault.line, key=fault.key, hint=_HINT)
    return dict(block.values)


def _last(entries: Iterable[Entry], key: str) -> Entry:
    found = [entry for entry in entries if entry.key == key]
    if not found:
        raise CardError(f"the key {key!r} is written in a way that cannot be edited", key=key, hint=_HINT)
    return found[-1]


def _verified(new: bytes, source: SourceText, expected: Mapping[str, JsonValue], key: str) -> bytes:
    """The new bytes, when they say what they should.

    Raises:
        CardError: they would not; an anchor was used elsewhere, say, or the value cannot be written as YAML.
    """
    cut = open_source(new).cut
    values = frontmatter.parse(cut.block).values
    is_right = cut.state is State.CLOSED and cut.body == source.cut.body and _holds(values, expected)
    if not is_right:
        raise CardError(f"{key!r} cannot be edited without changing more than it", key=key, hint=_HINT)
    return new


def _holds(values: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]) -> bool:
    if values.keys() != expected.keys():
        return False
    return all(_same(values[key], value) or _same_words(key, values[key], value) for key, value in expected.items())


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal, and of one type: ``1`` is not ``true``."""
    return one == other and repr(one) == repr(other)


def _same_words(key: str, text: JsonValue, words: JsonValue) -> bool:
    """True when comma text says the list that it should say."""
    return (
        key in WORD_LISTS
        and isinstance(text, str)
        and isinstance(words, list)
        and [word.strip() for word in text.split(",")] == words
    )


def _checked_key(key: str) -> str:
    if not key.strip() or key != key.strip() or any(not char.isprintable() for char in key):
        raise CardError(f"{key!r} cannot be a key of a frontmatter", key=key, hint="write a word")
    return checked_text(key)


def _checked_value(key: str, value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return checked_text(value)
    if isinstance(value, list):
        return [_checked_value(key, item) for item in value]
    if isinstance(value, dict):
        return {checked_text(name): _checked_value(key, item) for name, item in value.items()}
    if value is not None and not isinstance(value, bool | int | float):
        raise CardError(f"a {type(value).__name__} cannot be the value of a key", key=key, hint="write text")
    return value
