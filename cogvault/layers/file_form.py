"""A folder's abstract or overview as a file that people may edit: its text, and a mark of what was made. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

__all__ = ["LayerFile", "read_layer", "write_layer"]

_MARK = re.compile(
    r"(?:\A|\n)<!-- made by cogvault, edit the text above and it is kept: "
    r"text ([0-9a-f]{16}), cards ([0-9a-f]{16}) -->(?=\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class LayerFile:
    """What stands in such a file.

    Attributes:
        text: without the mark and without blanks around it.
        made: hash of the text that was made, "" when the mark is gone or never was.
        source: hash of the folder that the text speaks of, "" likewise.
    """

    text: str
    made: str = ""
    source: str = ""

    @property
    def is_edited(self) -> bool:
        """True when a person wrote this text; who emptied the file wants it made again."""
        return bool(self.text) and self.made != _short(self.text)

    def speaks_of(self, source: str) -> bool:
        """True when the folder's cards are still those of ``source``, the hash of its layers."""
        return self.source == _short(source)


def write_layer(text: str, source: str, made: str | None = None) -> bytes:
    """Bytes of a file.

    Args:
        text: of the layer.
        source: hash of the folder's layers.
        made: mark of the text that was made, for a text that a person wrote; None = this is the text that was made.
    """
    text = text.strip()
    mark = _short(text) if made is None else made
    return (
        f"{text}\n\n<!-- made by cogvault, edit the text above and it is kept: "
        f"text {mark}, cards {_short(source)} -->\n"
    ).encode()


def read_layer(text: str) -> LayerFile:
    """Read a file's text, its newlines as ``\\n``, whoever wrote it."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return LayerFile(text.strip())
    mark = marks[-1]  # one further up is part of the text
    parts = (text[: mark.start()].strip(), text[mark.end() :].strip())  # some write at the end of the file
    return LayerFile("\n\n".join(filter(None, parts)), mark[1], mark[2])


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
