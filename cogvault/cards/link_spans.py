"""Links in a card's body: wiki, embedded and relative Markdown links, never inside code. Pure, linear in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

from cogvault.cards.scan_markdown import CODE_KINDS, Block, BlockKind, scan
from cogvault.types import Link, LinkKind

_WIKI = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n]{1,1000})\]\]")
# Target, then heading after "#", then block after "^" or "#^"; a "#" at the very end is part of the name ("C#").
_ANCHORS = re.compile(r"([^#^]*+(?:[#^]$)?)(?:#(?!\^)([^^]+))?(?:#?\^(.+))?$")
_SHELL_TEST = re.compile(r"\s+(?:!\s|-[a-zA-Z]+\s|.*[$\"'=<>&]).*\s$")
_TITLE = r"(?:\"[^\"\n]{0,500}+\"|'[^'\n]{0,500}+'|\([^()\n]{0,500}+\))"
_BRACKET = re.compile(r"\\.|\[|\]")
_DESTINATION = re.compile(
    r"\([ \t]*+(?:<([^<>\n]{0,1000}+)>|([^\s()<>]{0,1000}+(?:\([^\s()<>]*+\)[^\s()<>]*+){0,4}))"
    r"(?:(?:[ \t]++(?:\n[ \t]*+)?|\n[ \t]*+)" + _TITLE + r")?[ \t]*+(?:\n[ \t]*+)?\)"
)
_REFERENCE = re.compile(
    r"^[ >]{0,8}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]++<?([^\s<>]++)>?(?:[ \t]++" + _TITLE + r")?[ \t]*+$", re.MULTILINE
)
_ANCHOR_TAG = re.compile(r"<a\s[^<>\n]{0,300}?\bhref=([\"'])([^\"'<>\n]{1,1000}+)\1")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_TICKS = re.compile(r"`+")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:|//")
# Files that a note shows or points at and that are never cards.
_ATTACHMENT = re.compile(
    r"[^.].*\.(?:avif|base|bmp|canvas|csv|docx|flac|gif|gz|heic|html|jpe?g|json|m4a|mkv|mov|mp3|mp4|og[gv]|pdf|png|pptx|"
    r"svg|tar|tiff?|wav|web[mp]|xlsx|xml|ya?ml|zip)",
    re.IGNORECASE,
)


class LinkSpan(NamedTuple):
    """A link and where its target is written: ``body[start:end]``, still percent-encoded, without heading or text."""

    link: Link
    start: int
    end: int


def find_links(body: str, first_line: int = 1) -> tuple[Link, ...]:
    """Links of a body in reading order.

    Args:
        body: the text, newlines as ``\\n``.
        first_line: line of the file on which it starts.
    """
    lines = body.split("\n")
    return tuple(span.link for span in link_spans(body, lines, scan(lines), first_line))


def link_spans(body: str, lines: Sequence[str], blocks: Sequence[Block], first_line: int = 1) -> list[LinkSpan]:
    """Links of a body whose lines are already scanned, with the places of their targets, for whoever rewrites them."""
    if "[[" not in body and "](" not in body and "]:" not in body and "href=" not in body:
        return []
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: list[LinkSpan] = []
    for start, end, is_row in _text_runs(blocks):
        offset = starts[start]
        text = body[offset : starts[end] - 1]
        text = "|".join(map(_without_code_spans, _CELL_EDGE.split(text))) if is_row else _without_code_spans(text)
        spans = [*_wiki_links(text), *_markdown_links(text), *_references(text)] if "[" in text else []
        spans += _anchor_tags(text) if "href=" in text else ()
        for link, at, until in sorted(spans, key=lambda span: span.start):
            line = first_line - 1 + bisect_right(starts, offset + at)
            found.append(LinkSpan(_at_line(link, line), offset + at, offset + until))
    return found


def _at_line(link: Link, line: int) -> Link:
    return Link(link.target, link.kind, line, link.heading, link.block, link.text)


def _text_runs(blocks: Sequence[Block]) -> Iterator[tuple[int, int, bool]]:
    """Line ranges outside of block code: a block, or one row of a table, within whose cells inline code stays."""
    for block in blocks:
        if block.kind is BlockKind.TABLE:
            yield from ((line, line + 1, True) for line in range(block.start, block.end))
        elif block.kind not in CODE_KINDS and block.kind is not BlockKind.RULE:
            yield block.start, block.end, False


def _without_code_spans(text: str) -> str:
    """The text with inline code blanked out, at the same length."""
    if "`" not in text:
        return text
    runs = [match.span() for match in _TICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for number, (start, end) in enumerate(runs):
        by_length.setdefault(end - start, []).append(number)
    pieces: list[str] = []
    done = number = 0
    while number < len(runs):
        start, end = runs[number]
        if _is_escaped(text, start):
            start += 1
        closers = by_length.get(end - start, [])
        index = bisect_right(closers, number)
        if index == len(closers):
            number += 1
            continue
        number = closers[index] + 1
        close = runs[closers[index]][1]
        pieces += [text[done:start], " " * (close - start)]
        done = close
    return "".join([*pieces, text[done:]])


def _is_escaped(text: str, position: int) -> bool:
    """True when an odd number of backslashes stands before ``position``; looks at most 64 characters back."""
    before = text[max(0, position - 64) : position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _wiki_links(text: str) -> Iterator[LinkSpan]:
    for match in _WIKI.finditer(text):
        inner = match[2]
        if _SHELL_TEST.match(inner):
            continue
        place, bar, shown = inner.partition("|")
        # In a table the bar is escaped; the backslash is not part of the target.
        parts = _ANCHORS.match(place.removesuffix("\\") if bar else place)
        if parts is None:
            continue
        written, heading, block = parts.groups()
        target = written.strip()
        if not (target or heading or block) or _ATTACHMENT.fullmatch(target):
            continue
        start = match.start(2) + len(written) - len(written.lstrip())
        kind = LinkKind.EMBED if match[1] else LinkKind.WIKI
        link = Link(target, kind, 0, _stripped(heading), _stripped(block), _stripped(shown))
        yield LinkSpan(link, start, start + len(target))


def _markdown_links(text: str) -> Iterator[LinkSpan]:
    openers: list[int] = []
    for match in _BRACKET.finditer(text):
        if match.group() == "[":
            openers.append(match.start())
        elif match.group() == "]" and openers:
            opener = openers.pop()
            destination = _DESTINATION.match(text, match.end())
            if destination is not None:
                kind = LinkKind.EMBED if text[opener - 1 : opener] == "!" else LinkKind.MARKDOWN
                group = 2 if destination[1] is None else 1
                shown = " ".join(text[opener + 1 : match.start()][:300].split())
                yield from _relative(destination[group], destination.start(group), kind, shown or None)


def _references(text: str) -> Iterator[LinkSpan]:
    """Reference definitions ``[name]: path.md``."""
    for match in _REFERENCE.finditer(text):
        if match[1].partition("#")[0].lower().endswith(".md"):
            yield from _relative(match[1], match.start(1), LinkKind.MARKDOWN, None)


def _anchor_tags(text: str) -> Iterator[LinkSpan]:
    """HTML: ``<a href="path.md">``."""
    for match in _ANCHOR_TAG.finditer(text):
        if match[2].partition("#")[0].partition("?")[0].lower().endswith(".md"):
            yield from _relative(match[2], match.start(2), LinkKind.MARKDOWN, None)


def _relative(written: str, start: int, kind: LinkKind, shown: str | None) -> Iterator[LinkSpan]:
    """The link to a card that a Markdown destination is; nothing for URLs and other files."""
    path, _, heading = written.partition("#")
    plain, question, _ = path.partition("?")
    if question and plain.lower().endswith(".md"):  # for a program that shows it; else it is part of the name
        path = plain
    target = unquote(path)
    name = target.rpartition("/")[2]
    is_card = name.lower().endswith(".md") or (bool(name.strip(".")) and "." not in name)
    if _SCHEME.match(written) or not target.isprintable() or not (is_card or (not target and heading)):
        return
    yield LinkSpan(Link(target, kind, 0, _stripped(unquote(heading)), None, shown), start, start + len(path))


def _stripped(text: str | None) -> str | None:
    return (text.strip() or None) if text else None
