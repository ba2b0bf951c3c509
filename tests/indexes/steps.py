"""A fixed sequence of changes, and a process that makes them until it is killed."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import numpy as np

from cogvault.indexes.local import LocalIndex, lexical, store, writer
from cogvault.protocols import Index
from cogvault.testing.records import MODEL, identity, record, vector_of
from cogvault.types import ChangeSet, VectorBatch

_WORDS = ["payment", "database", "设备清单", "hello", "service", "deploy", "POL-358", "база", "café", "config", "index"]


def step(index: Index, number: int) -> None:
    """Make one change: the n-th is the same for every index with the same past."""
    rng = random.Random(number)
    if number == 0:
        index.apply(ChangeSet(identity=identity()))
    elif number % 3 == 2 and (waiting := index.snapshot().pending(MODEL, 8)):
        rows = np.array([vector_of(stored.chunk.embed_text) for stored in waiting])
        index.apply(ChangeSet(vectors=VectorBatch(MODEL, np.array([stored.id for stored in waiting]), rows)))
    else:
        ids = [f"{place}.md" for place in range(8)]
        put = tuple(record(id, *_texts(rng), day=rng.randrange(9)) for id in rng.sample(ids, rng.randint(0, 4)))
        index.apply(ChangeSet(put=put, remove=tuple(rng.sample(ids, rng.randint(0, 2)))))


def _texts(rng: random.Random) -> list[str]:
    return [" ".join(rng.choices(_WORDS, k=rng.randint(1, 20))) for _ in range(rng.randint(1, 12))]


def die_at(point: str) -> None:
    """Have this process killed when it comes to a point of a change."""

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if point == "before the keyword commit":
        lexical.Lexical.write = die  # type: ignore[method-assign]
    elif point == "before the purge":
        writer.purge = die  # type: ignore[assignment]
    elif point == "while the keyword folder is built":
        # Building writes into a folder that was just made.
        lexical.Lexical.write = die  # type: ignore[method-assign]
    elif point == "before the new keyword folder is named":
        store.write_state = die  # type: ignore[attr-defined]
    elif point:
        raise ValueError(point)


def main(folder: Path, first: int, last: int, point: str) -> None:
    """Make steps ``first`` to ``last``, the last one with a death in it; report each on standard output."""
    index = LocalIndex(folder)
    for number in range(first, last + 1):
        if number == last:
            die_at(point)
        step(index, number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    index.close()


if __name__ == "__main__":
    # One fork for each line: a fresh process without the time that imports take.
    for line in sys.stdin:
        path, first, last, point = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            main(Path(path), int(first), int(last), point)
            os._exit(0)
        sys.stdout.write(f"pid {child}\n")
        sys.stdout.flush()
        os.waitpid(child, 0)
        sys.stdout.write("end\n")
        sys.stdout.flush()
