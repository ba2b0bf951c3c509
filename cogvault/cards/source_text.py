"""A card's bytes as lines that can be exchanged without touching the others. Pure."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass

from cogvault.cards import frontmatter
from cogvault.cards.decoding import decode
from cogvault.errors import CardError

__all__ = ["SourceText", "checked_text", "open_source"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ENDING = re.compile(r"\r\n|\r|\n")
_HINT = "save the file as UTF-8 first; nothing was changed"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A card's file, cut into lines.

    Attributes:
        bom: the byte-order mark, or nothing.
        lines: every line with the ending it has; only the last may have none.
        newline: the ending that most lines have; a lone CR only in a file without any LF.
        text: the same text as the parser sees it: newlines as ``\\n``, no BOM.
        cut: ``text``, cut at its frontmatter.
    """

    bom: bytes
    lines: tuple[str, ...]
    newline: str
    text: str
    cut: frontmatter.Split

    @property
    def body_start(self) -> int:
        """Index of the first line of the body."""
        return self.cut.body_line - 1

    def exchange(self, start: int, end: int, new: list[str]) -> bytes:
        """The file with lines ``start`` to ``end`` (not included) replaced by new ones, given without endings."""
        before = list(self.lines[:start])
        if new and before and not before[-1].endswith(("\n", "\r")):
            before[-1] += self.newline
        middle = [line + self.newline for line in new]
        return self.bom + "".join([*before, *middle, *self.lines[end:]]).encode()


def open_source(data: bytes) -> SourceText:
    """Cut a card's file into lines.

    Raises:
        CardError: the file is binary, UTF-16 or not valid UTF-8, and cannot be changed without harm.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CardError("the card is UTF-16, which cogvault reads but does not write", hint=_HINT)
    decoded = decode(data)
    if decoded.problem is not None:
        raise CardError(decoded.message, line=decoded.line, hint=_HINT)
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    raw = data[len(bom) :].decode()
    endings = Counter(_ENDING.findall(raw))
    if len(endings) > 1:
        del endings["\r"]
    newline = endings.most_common(1)[0][0] if endings else "\n"
    return SourceText(bom, tuple(_LINE.findall(raw)), newline, decoded.text, frontmatter.split(decoded.text))


def checked_text(text: str) -> str:
    """Text that is to be written into a card, with newlines as ``\\n``.

    Raises:
        CardError: it holds NULs or lone surrogates, so that no card could hold it.
    """
    if "\x00" in text:
        raise CardError("the text holds NUL characters, which make a card unreadable", hint="take them out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CardError("the text holds half of a character (a lone surrogate)", hint="take it out") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
