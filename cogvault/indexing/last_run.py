"""What is kept of the last sync of an index, for whoever asks later or in another process."""

from __future__ import annotations

import json
from dataclasses import asdict

from cogvault.indexing.last_look import LastLook
from cogvault.indexing.last_problems import LastProblems
from cogvault.indexing.last_sync import LastSync, RootId
from cogvault.indexing.look import Look
from cogvault.indexing.made_with import MadeWith
from cogvault.indexing.options import SyncOptions
from cogvault.protocols import CardParser, Summarizer
from cogvault.text.tokens import VERSION as ANALYZER_VERSION
from cogvault.types import Problem

__all__ = ["LastRun", "how_made", "made_with"]


class LastRun:
    """Three files, which a sync writes in this order, so that a kill in between claims nothing that is not so.

    First ``begin_anew``, before a new index gets its first card: it is not complete. Then ``fill``, once the keyword
    part equals the files: it is, though vectors may take minutes. Last ``end``.

    Args:
        options: of the sync.
        making: how cards are made of files, as ``how_made`` tells.

    Attributes:
        made_with: a fourth file, about the index itself.
    """

    def __init__(self, options: SyncOptions, making: str) -> None:
        folder, kind = options.notes_folder, _kind(options, making)
        self._sync = LastSync(folder)
        self._problems = LastProblems(folder)
        self._look = LastLook(folder, kind, is_shared=options.is_shared)
        self.made_with = made_with(options, making)
        self.now_ns = self._look.now_ns

    def root(self) -> RootId | None:
        """The folder that was synced, None = not known."""
        return self._sync.root()

    def looked_seconds(self, sequence: int) -> float | None:
        """As ``LastLook.age_seconds``."""
        return self._look.age_seconds(sequence)

    def begin_anew(self) -> None:
        """The index is a new one."""
        self._sync.forget()

    def fill(self, look: Look) -> None:
        """What a look found is in the keyword part."""
        if look.scanned.is_whole or self._sync.at() is not None:  # a few paths do not end a first sync that was killed
            self._sync.keep(look.scanned.root)

    def end(self, look: Look, failed: tuple[Problem, ...], sequence: int) -> None:
        """All has been done.

        Args:
            look: what it was done for.
            failed: files that could not be indexed, and chunks that could not be embedded.
            sequence: of the index.
        """
        self._problems.keep(failed, look.scanned.problems, look.scanned.looked_at)
        if look.scanned.is_whole:  # not before its problems are known to whoever relies on it
            self._look.keep(look.began_ns, sequence)


def how_made(parser: CardParser, summarizer: Summarizer | None) -> str:
    """What decides what of a file is in an index, beside the settings of a scan and the chunker."""
    return f"{parser.version} words-{ANALYZER_VERSION} layers-{'' if summarizer is None else summarizer.fingerprint}"


def made_with(options: SyncOptions, making: str) -> MadeWith:
    """What tells whether an index is of these settings; for the arguments see ``LastRun``."""
    return MadeWith(options.notes_folder, _kind(options, making), is_shared=options.is_shared)


def _kind(options: SyncOptions, making: str) -> str:
    return json.dumps([asdict(options.scan), options.max_card_bytes, making])
