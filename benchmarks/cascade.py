"""What an edit costs beyond itself: embeddings and layers saved, and whether the result is that of a fresh index.

Redoing a touched card means embedding all its chunks, making its abstract and overview anew, and those of every folder
above it. That is what each edit is compared with. Edits come in batches, as a person, a script or ``git pull`` makes
them; a batch is one sync.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, note
from benchmarks.words import sentence, sentences
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.embedders.hashing import HashingEmbedder
from cogvault.indexes import LocalIndex
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.scan import ScanOptions
from cogvault.indexing.sync import Syncer
from cogvault.layers.folder_store import FolderStore
from cogvault.layers.summarizers import ExtractiveSummarizer
from cogvault.types import Card, Filter, FloatArray, Summary, Term, TermKind

FOLDERS = 20
LAYERS = 2
ASKED = 20
_SEED = 17


class CountingEmbedder(HashingEmbedder):
    """Counts the texts that it embeds."""

    __slots__ = ("texts",)

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        self.texts += len(texts)
        return super().embed_documents(texts)


class CountingSummarizer(ExtractiveSummarizer):
    """Counts the cards whose layers it makes."""

    def __init__(self) -> None:
        super().__init__()
        self.cards = 0

    def summarize(self, card: Card) -> Summary:
        self.cards += 1
        return super().summarize(card)


class Bench:
    """A vault with an index that counts what is made for it."""

    def __init__(self, vault: Path, place: Path) -> None:
        self.vault = vault
        self.embedder, self.summarizer = CountingEmbedder(), CountingSummarizer()
        self.index = LocalIndex(place / "index")
        self.folders = FolderStore(place / "folders.sqlite")
        self.syncer = Syncer(
            vault,
            self.index,
            MarkdownCardParser(),
            self.embedder,
            SyncOptions(lock_folder=place, scan=ScanOptions(recursive=True)),
            summarizer=self.summarizer,
            folders=self.folders,
        )

    def made(self) -> tuple[int, int]:
        """Texts embedded and layers of cards made so far."""
        return self.embedder.texts, LAYERS * self.summarizer.cards

    def content(self) -> list[object]:
        """All that an answer can depend on: cards, chunks, layers, vectors, rankings."""
        snapshot = self.index.snapshot()
        ids = [card.id for card in snapshot.cards]
        chunks = {id: [stored.chunk for stored in snapshot.of_card(id)] for id in ids}
        stats = snapshot.stats
        paths = sorted(self.folders.stored().hashes)
        found: list[object] = [
            [(card.id, card.title, card.type, card.tags, card.meta, card.links, card.hash) for card in snapshot.cards],
            chunks,
            snapshot.layers(ids),
            (stats.cards, stats.chunks, stats.vectors, stats.embeddable),
            list(zip(paths, self.folders.layers(paths), strict=True)),
        ]
        rng = random.Random(_SEED)
        for _ in range(ASKED):
            text = sentence(rng)
            terms = [Term(TermKind.EXACT, word, 1.0) for word in dict.fromkeys(text.lower().strip(".").split())]
            for ranking in (
                snapshot.keyword(terms, Filter(), 20),
                snapshot.semantic(self.embedder.embed_query(text), Filter(), 20),
            ):
                places = [(stored.card, stored.chunk.position) for stored in snapshot.chunks(ranking.chunks.tolist())]
                found.append((places, np.asarray(ranking.scores).tolist()))
        return found

    def close(self) -> None:
        """Close the index."""
        self.index.close()


@dataclass(slots=True)
class Trace:
    """Edits of several kinds, each of which names the cards that it touches."""

    vault: Path
    rng: random.Random
    number: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    def edit(self) -> list[Path]:
        """Make one edit; the cards that it touched, as they are now (or were, when deleted)."""
        kind: Callable[[Path], list[Path]] = self.rng.choice(
            [
                self.word,
                self.word,
                self.paragraph,
                self.heading,
                self.frontmatter,
                self.rename,
                self.append_turn,
                self.append_turn,
                self.touch,
                self.delete if self.number % 3 else self.add,
            ]
        )
        if self.number % 40 == 39:
            kind = self.move_folder
        self.number += 1
        self.kinds[kind.__name__] = self.kinds.get(kind.__name__, 0) + 1
        return kind(self.rng.choice(sorted(self.vault.rglob("*.md"))))

    def word(self, path: Path) -> list[Path]:
        """Another word in the body."""
        lines = _lines(path)
        places = [n for n, line in enumerate(lines) if n > 6 and len(line.split()) > 6]
        place = self.rng.choice(places)
        words = lines[place].split(" ")
        words[self.rng.randrange(len(words))] = f"changed{self.number}"
        lines[place] = " ".join(words)
        return _write(path, lines)

    def paragraph(self, path: Path) -> list[Path]:
        """A new paragraph between others."""
        lines = _lines(path)
        place = self.rng.choice([n for n, line in enumerate(lines) if n > 6 and not line])
        return _write(path, [*lines[:place], "", " ".join(sentences(self.rng, 3)), *lines[place:]])

    def heading(self, path: Path) -> list[Path]:
        """Another heading over the same text."""
        lines = _lines(path)
        place = self.rng.choice([n for n, line in enumerate(lines) if line.startswith("## ")])
        lines[place] = f"## Part {self.number}"
        return _write(path, lines)

    def frontmatter(self, path: Path) -> list[Path]:
        """Another tag, the body the same."""
        return _write(
            path, [f"tags: [tag{self.number}]" if line.startswith("tags:") else line for line in _lines(path)]
        )

    def rename(self, path: Path) -> list[Path]:
        """Another file name."""
        return [path.rename(path.with_name(f"renamed-{self.number}.md"))]

    def append_turn(self, path: Path) -> list[Path]:
        """One more turn of a dialogue at the end."""
        return _write(path, [*_lines(path), f"**Ana**: {sentence(self.rng)}", ""])

    def touch(self, path: Path) -> list[Path]:
        """Another time, the same bytes."""
        os.utime(path, ns=(1, 10**18 + self.number))
        return [path]

    def add(self, path: Path) -> list[Path]:
        """A new card."""
        new = path.with_name(f"new-{self.number}.md")
        _write_card(new, self.rng)
        return [new]

    def delete(self, path: Path) -> list[Path]:
        """One card less: nothing would have to be redone, so it counts for nothing."""
        path.unlink()
        return []

    def move_folder(self, path: Path) -> list[Path]:
        """All cards of a folder under another path."""
        new = path.parent.rename(self.vault / f"moved-{self.number}")
        return sorted(new.glob("*.md"))


@dataclass(slots=True)
class Work:
    """What was made, and what redoing touched cards would have made."""

    done: int = 0
    redone: int = 0

    @property
    def saved_share(self) -> float:
        """Share of the work that was not done."""
        return 1 - self.done / max(1, self.redone)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cards", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=10, help="edits a sync")


def run(args: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as temp:
        return measure(Path(temp), args.cards, args.edits, args.batch)


def measure(temp: Path, cards: int, edits: int, batch: int) -> list[Row]:
    """Make a vault, edit it, and compare it with a fresh index of what it is then."""
    vault = temp / "vault"
    rng = random.Random(_SEED)
    for number in range(cards):
        _write_card(vault / f"folder-{number % FOLDERS:02}" / f"card-{number:05}.md", rng)
    bench = Bench(vault, temp / "live")
    bench.syncer.sync()
    note(f"{cards} cards are indexed")
    trace = Trace(vault, rng)
    embeddings, layers = Work(), Work()
    reused = 0
    for start in range(0, edits, batch):
        touched = [path for _ in range(min(batch, edits - start)) for path in trace.edit()]
        texts, made = bench.made()
        report = bench.syncer.sync()
        now_texts, now_made = bench.made()
        reused += report.reused
        embeddings.done += now_texts - texts
        layers.done += now_made - made + LAYERS * report.folders
        ids = [path.relative_to(vault).as_posix() for path in touched]
        snapshot = bench.index.snapshot()
        sizes = {id: sum(bool(stored.chunk.embed_text) for stored in snapshot.of_card(id)) for id in set(ids)}
        # Each touched card: its chunks; its own two layers, and two of each folder above it (here one, and the vault).
        embeddings.redone += sum(sizes[id] for id in ids)
        layers.redone += sum(LAYERS * (2 + id.count("/")) for id in ids if sizes[id])
    note(f"edits: {trace.kinds}; {reused} chunks kept their vectors")
    fresh = Bench(vault, temp / "fresh")
    fresh.syncer.sync()
    is_equal = bench.content() == fresh.content() and not bench.index.verify()
    bench.close()
    fresh.close()
    both = Work(embeddings.done + layers.done, embeddings.redone + layers.redone)
    return [
        Row("default", "edits", "saved_share", both.saved_share, edits),
        Row("default", "edits", "embeddings_saved", embeddings.saved_share, edits),
        Row("default", "edits", "layers_saved", layers.saved_share, edits),
        Row("default", "edits", "equal_to_fresh", float(is_equal), edits),
    ]


def _write_card(path: Path, rng: random.Random) -> None:
    body = [f"# {sentence(rng, 5)}", ""]
    for part in range(5):
        body += [f"## Section {part}", "", " ".join(sentences(rng, 7)), "", " ".join(sentences(rng, 7)), ""]
    head = ["---", f"title: {sentence(rng, 5).rstrip('.')}", "type: project", "tags: [infra]", "---"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*head, *body]), encoding="utf-8")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


def _write(path: Path, lines: Sequence[str]) -> list[Path]:
    path.write_text("\n".join(lines), encoding="utf-8")
    return [path]
