"""A process that syncs or writes when told, and is there to be killed.

It forks for each task, so that a test can kill many of them without paying for many starts. Reads lines of JSON, each a
``Task``; answers each with the child's exit status.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cogvault.cards import MarkdownCardParser
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.embedders import HashingEmbedder
from cogvault.indexes import LocalIndex
from cogvault.indexes.local import lexical, writer
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.sync import Syncer
from cogvault.types import ChangeSet, FloatArray

INSTANTS = ("start", "keyword commit", "vector batch", "purge")
_WRITES = 60


@dataclass(frozen=True, slots=True)
class Task:
    """What a child does, and when it is killed.

    Attributes:
        vault, folder, log: the vault, its index folder, and the file that tells what was embedded.
        model: name of the embedding model.
        chunk_tokens: size of chunks.
        writes: also write cards, each whole, before the sync.
        instant: one of ``INSTANTS``.
        occurrence: which of several such instants, from 1.
        delay_seconds: kill so long after it; negative = let the child end.
        seed: of what is written.
    """

    vault: str
    folder: str
    log: str
    model: str = "one"
    chunk_tokens: int = 200
    writes: bool = False
    instant: str = "start"
    occurrence: int = 1
    delay_seconds: float = -1.0
    seed: int = 0

    def line(self) -> str:
        """As the worker reads it."""
        return json.dumps(asdict(self)) + "\n"


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


def syncer(
    root: Path, folder: Path, index: LocalIndex, log: Path, model: str, batch: int = 500, chunk_tokens: int = 200
) -> Syncer:
    """A syncer of cards and chunks in batches of this size."""
    options = SyncOptions(
        folder, ScanOptions(recursive=True), card_batch=batch, vector_batch=batch, chunk_tokens=chunk_tokens
    )
    return Syncer(root, index, MarkdownCardParser(), LoggingEmbedder(log, model), options)


def written(name: str, version: int) -> str:
    """A card that tells whether it is whole."""
    return f"# {name} {version}\n\n" + f"note {name} {version} shared words\n\n" * 40 + f"end {name} {version}\n"


def do(task: Task) -> None:
    """Small batches: many instants at which a kill finds a commit half done."""
    if task.writes:
        rng = random.Random(task.seed)
        for version in range(_WRITES):
            name = f"written-{rng.randrange(5)}"
            file = Path(task.vault) / f"{name}.md"
            before = hash_of(file.read_bytes()) if file.exists() else None
            write_atomic(file, written(name, task.seed * _WRITES + version).encode(), expected_hash=before)
    index = LocalIndex(Path(task.folder))
    syncer(
        Path(task.vault), Path(task.folder), index, Path(task.log), task.model, batch=9, chunk_tokens=task.chunk_tokens
    ).sync()
    index.close()


def tell_at(instant: str, tell: Callable[[], None]) -> None:
    """Call ``tell`` whenever the process comes to such an instant."""
    if instant == "keyword commit":
        write = lexical.Lexical.write

        def told_write(*arguments: object) -> None:
            tell()
            write(*arguments)  # type: ignore[arg-type]

        lexical.Lexical.write = told_write  # type: ignore[method-assign, assignment]
    elif instant == "vector batch":
        apply = LocalIndex.apply

        def told_apply(self: LocalIndex, change: ChangeSet) -> int:
            if change.vectors is not None:
                tell()
            return apply(self, change)

        LocalIndex.apply = told_apply  # type: ignore[method-assign]
    elif instant == "purge":
        purge = writer.purge

        def told_purge(*arguments: object) -> bool:
            tell()
            return purge(*arguments)  # type: ignore[arg-type]

        writer.purge = told_purge
    else:
        tell()


def run(task: Task) -> int:
    """Do it in a child and kill that when it is time; its exit status."""
    seen, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(seen)
        tell_at(task.instant, lambda: os.write(telling, b".") and None)
        do(task)
        os._exit(0)
    os.close(telling)
    if task.delay_seconds >= 0:
        for _ in range(task.occurrence):
            if not os.read(seen, 1):  # it ended before it came there
                break
        time.sleep(task.delay_seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(seen)
    return status


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(f"{run(Task(**json.loads(line)))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
