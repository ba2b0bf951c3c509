"""Card files to records for the index; what fails is kept by file, so that one bad file never stops the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cogvault.indexing.folders import UNREADABLE
from cogvault.indexing.plan import Content
from cogvault.indexing.reading import FileBytes, read_file
from cogvault.indexing.scanned import ScannedFile
from cogvault.layers.source import layers_hash
from cogvault.protocols import CardParser
from cogvault.types import Card, CardLayers, CardRecord, Chunk, Problem, Summary

__all__ = ["SUMMARIZER_PROBLEM", "CardFiles"]

# Code of the problem of a card whose layers are not what its summarizer promises.
SUMMARIZER_PROBLEM = "summarizer"
_NO_LAYERS = CardLayers("", "")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class CardFiles:
    """Reads the files of one scan.

    Attributes:
        failed: why a file could not be read or understood, by id.
        layers_reused: records that kept the layers that their card had.
    """

    root: Path
    files: Mapping[str, ScannedFile]
    parser: CardParser
    chunk: Callable[[Card], Sequence[Chunk]]
    summarize: Callable[[Card], Summary] | None
    max_card_bytes: int
    now_ns: Callable[[], int]
    failed: dict[str, Problem] = field(default_factory=dict)
    layers_reused: int = 0

    def content(self, id: str) -> Content | None:
        """Hash and stamp of a file; None = it failed or is gone."""
        read = self._read(id, 0)
        return None if read is None else Content(read.hash, read.stamp)

    def record(self, id: str, before: CardLayers = _NO_LAYERS) -> CardRecord | None:
        """A file parsed and chunked; None = it failed or is gone.

        Args:
            id: the card's.
            before: layers that it had; they are kept when all that they were made from is as it was.
        """
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
        if self.summarize is None:
            return CardRecord(card, chunks, read.stamp, read.hash)
        source = layers_hash(card)
        if source == before.hash:
            self.layers_reused += 1
            return CardRecord(card, chunks, read.stamp, read.hash, before.abstract, before.overview, source)
        card, summary = self._summarized(card, self.summarize)
        kept = "" if summary.notes else source
        return CardRecord(card, chunks, read.stamp, read.hash, summary.abstract, summary.overview, kept)

    def _summarized(self, card: Card, summarize: Callable[[Card], Summary]) -> tuple[Card, Summary]:
        try:
            summary = summarize(card)
        except Exception as error:  # a summarizer may be anybody's, and a card is searchable without it
            _log.exception("%s could not be summarized", card.path)
            summary = Summary("", "", (f"it has no abstract and overview: {error!r}",))
        problems = (Problem(card.path, SUMMARIZER_PROBLEM, note) for note in summary.notes)
        return replace(card, problems=(*card.problems, *problems)), summary

    def _read(self, id: str, max_bytes: int) -> FileBytes | None:
        file = self.files[id]
        try:
            return read_file(self.root / file.target, max_bytes, self.now_ns)
        except FileNotFoundError:
            return None  # gone since the scan; the next one tells
        except OSError as error:
            self.failed[id] = Problem(file.path, UNREADABLE, f"cannot be read: {error.strerror}")
            return None
