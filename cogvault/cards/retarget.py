"""Links of a card, made to lead elsewhere: only the bytes of their targets change. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import quote, unquote

from cogvault.cards.link_spans import LinkSpan, find_links, link_spans
from cogvault.cards.scan_markdown import scan
from cogvault.cards.source_text import SourceText, open_source
from cogvault.types import Link

__all__ = ["Retargeted", "retarget"]

_SUFFIX = ".md"
_LOOK_BACK = 100
# What a Markdown destination cannot hold as it is, or would be read as something else.
_RESERVED = re.compile(r"[\x00-\x20\x7f\"#%()<>?:\\\[\]]")


@dataclass(frozen=True, slots=True)
class Retargeted:
    """A card whose links were made to lead elsewhere.

    Attributes:
        data: its bytes.
        count: links that were rewritten.
        left: links that no text could make lead where they should; they are as they were.
    """

    data: bytes
    count: int = 0
    left: tuple[Link, ...] = ()


def retarget(
    data: bytes,
    wanted: Callable[[Link], str | None],
    leads_to: Callable[[Link], str | None],
    *,
    folder: str,
    names: Callable[[str], Sequence[str]],
) -> Retargeted:
    """Rewrite the targets of some links, each in the form that it has.

    Args:
        data: the card's file.
        wanted: id of the card that a link is to lead to; None = it stays as it is.
        leads_to: id of the card that a link leads to.
        folder: of the card that holds the links, "" = the vault's root.
        names: a card's name, title and aliases, for one whose path cannot stand in a wiki link.

    Raises:
        CardError: the file cannot be written without harm.
    """
    source = open_source(data)
    body = source.cut.body
    lines = body.split("\n")
    edits: list[tuple[int, int, str]] = []
    left: list[Link] = []
    for span in link_spans(body, lines, scan(lines), source.cut.body_line):
        id = wanted(span.link)
        if id is None:
            continue
        spellings = _spellings(body, span, id, folder, names(id))
        text = next((text for text, link in spellings if leads_to(link) == id), None)
        if text is None:
            left.append(span.link)
        elif text != body[span.start : span.end]:
            edits.append((span.start, span.end, text))
    return Retargeted(_edited(data, source, lines, edits), len(edits), tuple(left))


def _edited(data: bytes, source: SourceText, lines: Sequence[str], edits: Sequence[tuple[int, int, str]]) -> bytes:
    """The file with parts of its body replaced, each within one line; line endings stay as they are."""
    if not edits:
        return data
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    changed = list(source.lines)
    number = len(lines) - 1
    for start, end, text in sorted(edits, reverse=True):
        while starts[number] > start:
            number -= 1
        place = source.body_start + number
        line = changed[place]
        changed[place] = f"{line[: start - starts[number]]}{text}{line[end - starts[number] :]}"
    return source.bom + "".join(changed).encode()


def _spellings(body: str, span: LinkSpan, id: str, folder: str, names: Sequence[str]) -> Iterator[tuple[str, Link]]:
    """Texts that may name the card in a link's place, likest to what stands there first, and the link they make."""
    written = body[span.start : span.end]
    before, after = body[max(0, span.start - _LOOK_BACK) : span.start], body[span.end : span.end + 1]
    if before.rstrip().endswith("[["):
        texts = _wiki_texts(written, id, folder, names)
        frame = "[[", "]]"
    else:
        # In angle brackets blanks need no code; in those of a reference definition they do.
        is_angled = before.endswith("<") and after == ">" and before[:-1].rstrip(" ").endswith("(")
        texts = (_encoded(text, written, is_angled) for text in _markdown_texts(unquote(written), id, folder))
        frame = ("[x](<", ">)") if is_angled else ("[x](", ")")
    for text in dict.fromkeys(texts):
        read = find_links(f"{frame[0]}{text}{frame[1]}")
        if len(read) == 1 and not (read[0].heading or read[0].block or read[0].text not in (None, "x")):
            link = span.link
            yield text, Link(read[0].target, link.kind, link.line, link.heading, link.block, link.text)


def _wiki_texts(written: str, id: str, folder: str, names: Sequence[str]) -> Iterator[str]:
    bare = id[: -len(_SUFFIX)]
    suffix = _SUFFIX if written.lower().endswith(_SUFFIX) else ""
    if written.startswith(("./", "../")):
        yield _relative(bare, folder, dotted=True) + suffix
    elif written.startswith("/"):
        yield f"/{bare}{suffix}"
    elif "/" not in written:
        yield posixpath.basename(bare) + suffix
    yield bare + suffix
    yield bare
    yield id
    yield f"/{bare}"
    yield f"/{id}"
    yield from names


def _markdown_texts(written: str, id: str, folder: str) -> Iterator[str]:
    suffix = len(_SUFFIX) if not written.lower().endswith(_SUFFIX) else 0
    for path in dict.fromkeys((id[: len(id) - suffix], id)):
        if written.startswith("/"):
            yield f"/{path}"
        yield _relative(path, folder, dotted=written.startswith("./"))
        yield f"/{path}"


def _relative(path: str, folder: str, *, dotted: bool) -> str:
    relative = posixpath.relpath(path, folder or ".")
    return f"./{relative}" if dotted and not relative.startswith("../") else relative


def _encoded(text: str, written: str, is_angled: bool) -> str:
    """Percent-encoded as the destination was: letters of other scripts only where something was encoded at all."""
    if "%" in written:
        text = quote(text, safe="/ !$&'()*+,;=@~" if is_angled else "/!$&'*+,;=@~")
    elif is_angled:
        text = re.sub(r"[\x00-\x1f\x7f#%<>?:\\]", lambda match: quote(match.group()), text)
    else:
        text = _RESERVED.sub(lambda match: quote(match.group(), safe=""), text)
    return text
