"""Bytes of a file to text. Pure; never raises on content."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

# Bytes that are not UTF-8 arrive as U+DC80..U+DCFF; read them as Windows-1252, the usual legacy encoding of notes.
_LEGACY = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
_LOST = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
# Above this share of bytes the text is in another alphabet, and Windows-1252 would give wrong letters.
_MAX_LEGACY_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a file.

    Attributes:
        text: newlines as ``\\n``, BOM removed, no lone surrogates, no NUL; "" for a binary file.
        problem: code of what is wrong, None = nothing.
        message: what is wrong, in one sentence.
        line: 1-based line of the first fault, when known.
    """

    text: str
    problem: str | None = None
    message: str = ""
    line: int | None = None


def decode(data: bytes) -> Decoded:
    """Decode UTF-8 or, with a byte-order mark, UTF-16; anything else is flagged.

    Single bytes that are not UTF-8 are read as Windows-1252, so that a legacy note stays searchable; a text that is
    mostly such bytes keeps its ASCII words and U+FFFD for the rest. A file that holds NULs is binary: no text.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoded = _utf16(data)
    else:
        decoded = _utf8(data.removeprefix(codecs.BOM_UTF8))
    if "\x00" in decoded.text:
        return Decoded("", "binary", "the file holds NUL bytes: binary, or UTF-16 without a byte-order mark")
    text = decoded.text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, decoded.problem, decoded.message, decoded.line)


def _utf8(data: bytes) -> Decoded:
    try:
        return Decoded(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        start, tail = error.start, error.reason == "unexpected end of data"
    line = data.count(b"\n", 0, start) + 1
    if tail and not data[:start].isascii():
        message = "the file ends inside a character: it was cut off"
        return Decoded(data[:start].decode("utf-8"), "encoding-invalid", message, line)
    text = data.decode("utf-8", "surrogateescape")
    legacy = sum(1 for char in text if "\udc80" <= char <= "\udcff")
    table = _LEGACY if legacy <= _MAX_LEGACY_SHARE * len(text) else _LOST
    message = f"byte 0x{data[start]:02X} is not UTF-8; the file was read as Windows-1252 there"
    return Decoded(text.translate(table), "encoding-invalid", message, line)


def _utf16(data: bytes) -> Decoded:
    try:
        return Decoded(data.decode("utf-16"))
    except UnicodeDecodeError as error:
        message = f"not valid UTF-16 at byte {error.start}"
    return Decoded(data.decode("utf-16", "replace"), "encoding-invalid", message)


def scrub(text: str) -> str:
    """The text with lone surrogates (of undecodable file names) as U+FFFD, so that it can be stored and printed."""
    return text if text.isascii() else text.translate(_LOST)
