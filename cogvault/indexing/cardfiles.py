"""Card files to records for the index; what fails is kept by file, so that one bad file never stops the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cogvault.indexing.plan import Content
from cogvault.indexing.reading import FileBytes, read_file
from cogvault.indexing.scan import ScannedFile
from cogvault.protocols import CardParser
from cogvault.types import Card, CardRecord, Chunk, Problem

__all__ = ["CardFiles", "Layers"]

# Abstract (L0) and overview (L1) of a card.
Layers = Callable[[Card], tuple[str, str]]
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class CardFiles:
    """Reads the files of one scan.

    Attributes:
        failed: why a file could not be read or understood, by id.
    """

    root: Path
    files: dict[str, ScannedFile]
    parser: CardParser
    chunk: Callable[[Card], Sequence[Chunk]]
    layers: Layers | None
    max_card_bytes: int
    now_ns: Callable[[], int]
    failed: dict[str, Problem] = field(default_factory=dict)

    def content(self, id: str) -> Content | None:
        """Hash and stamp of a file; None = it failed or is gone."""
        read = self._read(id, 0)
        return None if read is None else Content(read.hash, read.stamp)

    def record(self, id: str) -> CardRecord | None:
        """A file parsed and chunked; None = it failed or is gone."""
        read = self._read(id, self.max_card_bytes)
        if read is None:
            return None
        file = self.files[id]
        try:
            card = self.parser.parse(read.data, id=id, path=file.path)
            if read.cut:
                message = f"larger than {self.max_card_bytes} bytes: only the first {len(read.data)} are indexed"
                card = replace(card, problems=(*card.problems, Problem(file.path, "oversize", message)))
            chunks = tuple(self.chunk(card))
        except Exception as error:  # a parser may be anybody's; its fault concerns this file only
            _log.exception("%s could not be indexed", file.path)
            self.failed[id] = Problem(file.path, "parse-failed", f"cannot be indexed: {error!r}")
            return None
        card, abstract, overview = self._summarized(card)
        return CardRecord(card, chunks, read.stamp, read.hash, abstract, overview)

    def _summarized(self, card: Card) -> tuple[Card, str, str]:
        if self.layers is None:
            return card, "", ""
        try:
            return card, *self.layers(card)
        except Exception as error:  # a summarizer may be anybody's, and a card is searchable without it
            _log.exception("%s could not be summarized", card.path)
            problem = Problem(card.path, "layers-failed", f"has no abstract and overview: {error!r}")
            return replace(card, problems=(*card.problems, problem)), "", ""

    def _read(self, id: str, max_bytes: int) -> FileBytes | None:
        file = self.files[id]
        try:
            return read_file(self.root / file.target, max_bytes, self.now_ns)
        except FileNotFoundError:
            return None  # gone since the scan; the next one tells
        except OSError as error:
            self.failed[id] = Problem(file.path, "unreadable", f"cannot be read: {error.strerror}")
            return None
