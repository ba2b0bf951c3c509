"""A process that syncs when told, and is there to be killed.

It forks for each sync, so that a test can kill many of them without paying for many starts. Reads lines of
``ROOT<TAB>FOLDER<TAB>LOG<TAB>MODEL``, answers with the child's process id, and with its exit status when it has ended.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cogvault.cards import MarkdownCardParser
from cogvault.embedders import HashingEmbedder
from cogvault.indexes import LocalIndex
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.sync import Syncer, SyncOptions
from cogvault.types import FloatArray


class LoggingEmbedder:
    """Writes each text that it embeds as a line into a file that processes share."""

    dim = 32
    max_tokens = 512
    floor = 0.1
    ceiling = 0.5

    def __init__(self, log: Path, name: str) -> None:
        self.name = name
        self.fingerprint = f"{name}/{self.dim}"
        self._inner = HashingEmbedder(self.dim, seed=len(name))
        self._log = log

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        with self._log.open("ab") as file:
            file.writelines(f"{text!r}\n".encode() for text in texts)
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> FloatArray:
        return self._inner.embed_query(text)


def syncer(root: Path, folder: Path, index: LocalIndex, log: Path, model: str, batch: int = 500) -> Syncer:
    """A syncer of cards and chunks in batches of this size."""
    options = SyncOptions(folder, ScanOptions(recursive=True), card_batch=batch, vector_batch=batch)
    return Syncer(root, index, MarkdownCardParser(), LoggingEmbedder(log, model), options)


def sync(root: Path, folder: Path, log: Path, model: str) -> None:
    """Small batches: many instants at which a kill finds a commit half done."""
    index = LocalIndex(folder)
    syncer(root, folder, index, log, model, batch=9).sync()
    index.close()


def main() -> None:
    for line in sys.stdin:
        root, folder, log, model = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            sync(Path(root), Path(folder), Path(log), model)
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
