"""Edits of a card's bytes that change what they name and nothing else. Pure.

Line endings, BOM, comments, the order and the quotes of all that is not named stay. What would also change something
else is refused, and the caller's bytes are as they were.
"""

from __future__ import annotations

import re

from cogvault.cards.edit_frontmatter import WORD_LISTS, set_keys
from cogvault.cards.edit_sections import append_section, replace_section
from cogvault.cards.frontmatter import State, parse, split
from cogvault.cards.source_text import checked_text, open_source
from cogvault.cards.spacing import needs_blank_between
from cogvault.errors import CardError

__all__ = ["WORD_LISTS", "append_body", "append_section", "replace_body", "replace_section", "set_keys"]

_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")


def replace_body(data: bytes, text: str) -> bytes:
    """The card with another body. Blank lines between frontmatter and body stay.

    Args:
        data: the card's file.
        text: the body. The card's own frontmatter in front of it is left out, so that what was read can be handed back.

    Raises:
        CardError: the file cannot be written without harm, its frontmatter never closes, or the text begins with
            frontmatter that is not the card's own, or would be read as frontmatter.
    """
    source = open_source(data)
    if source.cut.state is State.UNTERMINATED:
        message = "the frontmatter opens on line 1 and never closes, so that it is part of the body"
        raise CardError(message, line=1, hint="close it with a line of three dashes")
    text = checked_text(text).removeprefix("\ufeff")
    if source.cut.state is State.CLOSED:
        text = _without_block(text, source.cut.block)
    text = text.strip("\n")
    leading = 0
    if source.cut.state is State.CLOSED:
        leading = _BLANK_LINES.match(source.cut.body).group().count("\n")  # type: ignore[union-attr]
    start = source.body_start + leading
    if source.text[len(source.text) - len(source.cut.body) :].strip("\n") == text:
        return data
    new = source.exchange(start, len(source.lines), text.split("\n") if text else [])
    return _with_same_frontmatter(data, new)


def _without_block(text: str, own: str) -> str:
    """The text without the card's own frontmatter at its top.

    Raises:
        CardError: it begins with another, which would be a second block in the card.
    """
    cut = split(text)
    if cut.state is not State.CLOSED:
        return text
    if cut.block.rstrip("\n") == own.rstrip("\n"):
        return cut.body
    if parse(cut.block).values:
        hint = "give the body without frontmatter, and keys with set"
        raise CardError("the text begins with frontmatter that is not the card's own", line=1, hint=hint)
    return text


def append_body(data: bytes, text: str) -> bytes:
    """The card with text added at its end; all of its bytes stay in front.

    Raises:
        CardError: the file cannot be written without harm, or the text would be read as frontmatter.
    """
    source = open_source(data)
    lines = checked_text(text).strip("\n").split("\n")
    if lines == [""]:
        return data
    body = source.cut.body.split("\n")
    if body[-1] == "":
        body.pop()
    last = body[-1] if body else ""
    new = ["", *lines] if last.strip() and needs_blank_between(last, lines[0]) else lines
    return _with_same_frontmatter(data, source.exchange(len(source.lines), len(source.lines), new))


def _with_same_frontmatter(old: bytes, new: bytes) -> bytes:
    """The new bytes.

    Raises:
        CardError: the text that was put in would count as frontmatter.
    """
    before, after = open_source(old).cut, open_source(new).cut
    if (before.state, before.block) != (after.state, after.block):
        raise CardError("the text starts with a line of three dashes and would be read as frontmatter", line=1)
    return new
