"""Dialogue turns as Markdown, and back: what was said comes out as it went in. Pure.

A turn is written as people would write it, ``**Ana** (2024-03-15T10:30:00.123456Z): text``. Text that would not come
back as exactly one turn (headings, lines that look like turns, an open fence, blanks around it) is written below the
mark as a quote, in which nothing of this counts. Characters that a readable file cannot hold are escaped there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from cogvault.cards import frontmatter
from cogvault.cards.decoding import decode
from cogvault.cards.scan_markdown import Block, BlockKind, scan
from cogvault.errors import CardError
from cogvault.text.dates import parse_moment
from cogvault.types import EMPTY_META, JsonValue, Turn

__all__ = ["MAX_SPEAKER_CHARS", "checked_speaker", "is_continued", "meta_line", "read_turns", "timestamp", "write_turn"]

MAX_SPEAKER_CHARS = 80
# Newlines and tabs may stand in a file as they are; these would end lines, or make the file a binary one.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
_TO_ESCAPE = re.compile(rf"\\|{_UNSAFE.pattern}")
_ESCAPED = re.compile(r"\\(\\|u([0-9a-f]{4}))")
_ESCAPED_MARK = "<!-- escaped -->"
_META = re.compile(r"<!-- (\{.*\}) -->")
_BREAKS = (BlockKind.TURN, BlockKind.HEADING)
_PROBE = "\n\n**probe**: probe"


def write_turn(turn: Turn) -> str:
    """A turn as Markdown lines, without a newline at the end; ``read_turns`` gives back exactly this turn.

    Args:
        turn: with a speaker as ``checked_speaker`` gives it, and a time.

    Raises:
        CardError: the metadata is no JSON object.
    """
    assert turn.at is not None
    mark = f"**{turn.speaker}** ({timestamp(turn.at)}):"
    meta = f"\n{meta_line(turn.meta)}" if turn.meta else ""
    text = turn.text
    if not _UNSAFE.search(text) and text == text.strip():
        plain = f"{mark} {text}{meta}" if text else f"{mark}{meta}"
        if "\n" not in text or _is_kept(plain, turn):
            return plain
    escaped = _TO_ESCAPE.sub(_escape, text) if _UNSAFE.search(text) else text
    quote = "".join(f"\n> {line}" if line else "\n>" for line in escaped.split("\n"))
    return f"{mark}{quote}\n{_ESCAPED_MARK}{meta}" if escaped != text else f"{mark}{quote}{meta}"


def read_turns(data: bytes | str) -> list[Turn]:
    """Turns of a file in order, whoever wrote them; text before the first turn or below a heading is none.

    Args:
        data: a whole file, or its text.
    """
    lines = frontmatter.split(decode(data).text if isinstance(data, bytes) else data).body.split("\n")
    breaks = [block for block in scan(lines) if block.kind in _BREAKS]
    end = Block(BlockKind.HEADING, len(lines), len(lines), 0)
    return [
        _read_turn(start, lines[start.start : after.start])
        for start, after in pairwise([*breaks, end])
        if start.kind is BlockKind.TURN
    ]


def is_continued(data: bytes) -> bool:
    """True when a turn that is appended to these bytes of a file will be read as one: no fence is open, it is UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\0" not in text and read_turns(text + _PROBE)[-1:] == [Turn("probe", "probe")]


def checked_speaker(speaker: str) -> str:
    """A speaker's name as it can be written, blanks made one.

    Raises:
        CardError: it is empty, too long, or holds a ``*`` or a control character.
    """
    name = " ".join(speaker.split())
    if not name or len(name) > MAX_SPEAKER_CHARS or "*" in name or _UNSAFE.search(name):
        raise CardError(
            f"{speaker[:100]!r} cannot be a speaker's name",
            key="speaker",
            hint=f"a name has 1 to {MAX_SPEAKER_CHARS} characters, no * and no control characters",
        )
    return name


def timestamp(at: datetime) -> str:
    """A time as it is written into a turn: ISO 8601 to the microsecond, in its own zone; without a zone it is UTC."""
    offset = at.utcoffset()
    if offset is None:
        at = at.replace(tzinfo=UTC)
    elif offset.total_seconds() % 60:  # no notation of a zone has seconds
        at = at.astimezone(UTC)
    text = at.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def _read_turn(mark: Block, lines: Sequence[str]) -> Turn:
    said = [lines[0][mark.offset :], *lines[1:]]
    while len(said) > 1 and not said[-1].strip():
        said.pop()
    meta = _read_meta(said[-1]) if len(said) > 1 else None
    if meta is not None:
        said.pop()
    is_escaped = len(said) > 1 and said[-1] == _ESCAPED_MARK
    if is_escaped:
        said.pop()
    if len(said) > 1 and not said[0] and all(line.startswith(">") for line in said[1:]):
        said = [line[2:] if line.startswith("> ") else line[1:] for line in said[1:]]
    text = "\n".join(said)
    if is_escaped:
        text = _ESCAPED.sub(lambda match: chr(int(match[2], 16)) if match[2] else "\\", text)
    return Turn(mark.text, text, parse_moment(mark.at), EMPTY_META if meta is None else meta)


def _is_kept(plain: str, turn: Turn) -> bool:
    """True when this text gives the turn again, and the next turn too."""
    found = read_turns(f"{plain}{_PROBE}")
    return len(found) == 2 and (found[0].text, found[0].meta) == (turn.text, dict(turn.meta))


def meta_line(meta: Mapping[str, JsonValue]) -> str:
    """Metadata of a turn as the line below it.

    Raises:
        CardError: it is no JSON object.
    """
    try:
        text = json.dumps(dict(meta), ensure_ascii=False, allow_nan=False)
        if _UNSAFE.search(text):
            text = json.dumps(dict(meta), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CardError(
            f"the metadata of a turn is no JSON: {error}", key="meta", hint="use text, numbers, lists and mappings"
        ) from error
    return "<!-- {} -->".format(text.replace(">", "\\u003e"))


def _read_meta(line: str) -> dict[str, JsonValue] | None:
    match = _META.fullmatch(line)
    if match is None:
        return None
    try:
        found = json.loads(match[1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _escape(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}"
