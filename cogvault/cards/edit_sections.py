"""Edits of one section: a heading and all below it, up to the next heading of its level or above. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cogvault.cards.scan_markdown import BlockKind, heading_text, scan
from cogvault.cards.source_text import SourceText, checked_text, open_source
from cogvault.cards.spacing import needs_blank_between
from cogvault.errors import CardError
from cogvault.text.normalise import fold

__all__ = ["append_section", "replace_section"]

_HASHES = re.compile(r"(#{1,6})[ \t]+(.*)", re.DOTALL)
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading of a body. ``start`` and ``end`` are indexes of lines; ``end`` is not included."""

    level: int
    text: str
    start: int
    end: int

    @property
    def name(self) -> tuple[int, str]:
        return self.level, self.text


@dataclass(frozen=True, slots=True)
class _Section:
    """Where a section stands in its file.

    Attributes:
        position: of its heading among the headings of the body.
        after: how many headings come before the first that is no longer in it.
        first: line behind the heading.
        end: line behind the section.
    """

    position: int
    after: int
    first: int
    end: int


def replace_section(data: bytes, heading: str, text: str) -> bytes:
    """The card with other text below a heading. The heading and the blank lines around the text stay.

    Args:
        data: the card's file.
        heading: the heading's text, with ``#`` marks in front when its level is to count too.
        text: new text; it may start with the heading itself.

    Raises:
        CardError: no heading or several have this text; or the text would change the sections around it.
    """
    source = open_source(data)
    headings = _headings(source.cut.body)
    section = _find(source, headings, heading)
    lines = _content(text, headings[section.position])
    first, last = _filled(source, section)
    if lines == _plain(source.lines[first:last]):
        return data
    if first < last:
        # A blank line must be left where the section's text met the next heading.
        spaced = [*lines, ""] if lines and last == section.end < len(source.lines) else lines
        new = source.exchange(first, last, spaced)
    else:
        new = _fill(source, section, lines)
    return _checked(new, source, headings, section, lines)


def append_section(data: bytes, heading: str, text: str) -> bytes:
    """The card with text added at the end of a section.

    Args:
        data: the card's file.
        heading: as for ``replace_section``.
        text: what is added.

    Raises:
        CardError: no heading or several have this text; or the text would change the sections around it.
    """
    source = open_source(data)
    headings = _headings(source.cut.body)
    section = _find(source, headings, heading)
    lines = _content(text, headings[section.position])
    if not lines:
        return data
    first, last = _filled(source, section)
    if first == last:
        return _checked(_fill(source, section, lines), source, headings, section, lines)
    added = ["", *lines] if needs_blank_between(source.lines[last - 1], lines[0]) else list(lines)
    if last == section.end < len(source.lines):
        added.append("")
    new = source.exchange(last, last, added)
    own = headings[section.position + 1 : section.after]
    return _checked(new, source, headings, section, lines, own)


def _headings(body: str) -> list[_Heading]:
    blocks = scan(body.split("\n"))
    return [_Heading(b.level, b.text, b.start, b.end) for b in blocks if b.kind is BlockKind.HEADING]


def _find(source: SourceText, headings: Sequence[_Heading], wanted: str) -> _Section:
    match = _HASHES.fullmatch(wanted.strip())
    level, name = (len(match[1]), match[2]) if match else (0, wanted)
    name = fold(heading_text(name))
    found = [
        index for index, item in enumerate(headings) if fold(item.text) == name and level in (0, item.level) and name
    ]
    start = source.body_start
    if not found:
        raise CardError(f"no section is called {wanted!r}", key="section", hint=_suggestion(headings, name))
    if len(found) > 1:
        lines = ", ".join(str(start + headings[index].start + 1) for index in found[:_MAX_NAMED])
        hint = "make the headings differ, or write the level too, as in '## Open items'"
        raise CardError(f"{len(found)} sections are called {wanted!r} (lines {lines})", key="section", hint=hint)
    position = found[0]
    own = headings[position]
    after = next((i for i in range(position + 1, len(headings)) if headings[i].level <= own.level), len(headings))
    end = start + headings[after].start if after < len(headings) else len(source.lines)
    return _Section(position, after, start + own.end, end)


def _suggestion(headings: Sequence[_Heading], name: str) -> str:
    if not headings:
        return "the card has no headings"
    texts = {fold(item.text): item.text for item in headings}
    near = difflib.get_close_matches(name, texts, n=_MAX_NAMED, cutoff=0.5) or list(texts)[:_MAX_NAMED]
    return f"its sections include {', '.join(repr(texts[text]) for text in near)}"


def _content(text: str, heading: _Heading) -> list[str]:
    """Lines of the text, without blank ones at its ends and without the section's own heading at its start."""
    lines = checked_text(text).split("\n")
    own = next(iter(_headings("\n".join(lines))), None)
    if own is not None and own.name == heading.name and not any(line.strip() for line in lines[: own.start]):
        lines = lines[own.end :]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        del lines[0]
    if any(item.level <= heading.level for item in _headings("\n".join(lines))):
        hint = "use deeper headings in it, or replace the body"
        raise CardError(f"the text holds a heading that would end the section {heading.text!r}", hint=hint)
    return lines


def _filled(source: SourceText, section: _Section) -> tuple[int, int]:
    """The section's lines without blank ones at its ends."""
    first, last = section.first, section.end
    while first < last and not source.lines[first].strip():
        first += 1
    while last > first and not source.lines[last - 1].strip():
        last -= 1
    return first, last


def _fill(source: SourceText, section: _Section, lines: list[str]) -> bytes:
    """Text for a section that has none yet: a blank line before it, and one behind it when something follows."""
    if not lines:
        return source.exchange(section.first, section.first, [])
    blanks = section.end - section.first
    at = section.first + min(blanks, 1)
    new = lines if blanks else ["", *lines]
    return source.exchange(at, at, [*new, ""] if blanks < 2 and section.end < len(source.lines) else new)


def _plain(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines]


def _checked(
    new: bytes,
    source: SourceText,
    headings: Sequence[_Heading],
    section: _Section,
    lines: list[str],
    kept: Sequence[_Heading] = (),
) -> bytes:
    """The new bytes, when they have the sections that they should have.

    Raises:
        CardError: an open code fence, say, swallows what follows.
    """
    inner = [*kept, *_headings("\n".join(lines))]
    expected = [item.name for item in (*headings[: section.position + 1], *inner, *headings[section.after :])]
    after = open_source(new)
    same_block = (after.cut.state, after.cut.block) == (source.cut.state, source.cut.block)
    if not same_block:
        raise CardError("the text would be read as frontmatter")
    if [item.name for item in _headings(after.cut.body)] != expected:
        raise CardError("the text would change the sections around it", hint="close its code fences")
    return new
