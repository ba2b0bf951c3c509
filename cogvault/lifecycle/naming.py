"""What a card is called and described as when nobody said: taken from its text. Pure.

What looks like a secret is masked in them: it would stand in a file's name. The same text always gives the same words,
so that a later edit knows them as taken from the text, and takes them anew.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cogvault.cards.scan_markdown import CODE_KINDS, BlockKind, heading_text, scan, without_mark
from cogvault.layers.abstract import make_abstract
from cogvault.layers.digest import digest
from cogvault.text.secrets import redact
from cogvault.text.sentences import sentences
from cogvault.types import Card

__all__ = ["derived_description", "derived_title"]

_MAX_TITLE_CHARS = 80
# Half an abstract: a line or two in an editor, and for a short card all that it says.
_DESCRIPTION_TOKENS = 60
_MARKS = re.compile(r"^(?:[ \t]*(?:>|[-+*][ \t]+(?:\[[ xX]\][ \t]+)?|[0-9]{1,9}[.)][ \t]+))+")


def derived_title(body: str) -> str:
    """The first heading, else the beginning of the first sentence; "" for a body without words."""
    lines = redact(body).split("\n")
    blocks = scan(lines)
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.text:
            return block.text
    for block in blocks:
        if block.kind in CODE_KINDS or block.kind is BlockKind.RULE:
            continue
        text = " ".join(line.strip() for line in lines[block.start : block.end])
        plain = heading_text(without_mark(_MARKS.sub("", text)))
        if any(map(str.isalnum, plain)):
            return _cut(next(iter(sentences(plain)), plain))
    first = next((line.strip() for line in lines if any(map(str.isalnum, line))), "")
    return _cut(first)


def derived_description(card: Card) -> str:
    """What the card says, in a line or two; its title when it has no text."""
    masked = replace(card, body=redact(card.body))
    return make_abstract(masked, digest(masked.title, masked.body), tokens=_DESCRIPTION_TOKENS)


def _cut(text: str) -> str:
    text = text.rstrip(" .。:;,")
    if len(text) <= _MAX_TITLE_CHARS:
        return text
    room = text[:_MAX_TITLE_CHARS]
    return f"{room[: room.rfind(' ')] if ' ' in room[20:] else room}…"
