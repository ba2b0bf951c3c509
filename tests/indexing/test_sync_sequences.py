"""Whatever happens to the files between syncs, the index ends up as a fresh one would be."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cogvault.indexing.scan import ScanOptions
from tests.indexing.support import Desk, SpyEmbedder, content

NAMES = ["a.md", "B.md", "b.md", "notes.txt", "x/a.md", "x/y/c.md", "z.md/d.md", "x/.hidden.md", "é/e.md"]
NAMES.append(unicodedata.normalize("NFD", "é/e.md"))
# A file that takes a folder's place, and names that share an id though one of them is plain: the sign for kelvin is K.
NAMES += ["z.md", "x/K.md", "x/\u212a.md"]
TEXTS = ["", "alpha", "beta gamma", "# One\n\nshared words\n\nalpha", "---\ntags: [t]\n---\nshared words"]
paths = st.sampled_from(NAMES)


class Sequences(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        (self.base / "vault").mkdir()
        self.desk = Desk(
            self.base / "vault", embedder=SpyEmbedder(), scan=ScanOptions(recursive=True, ignore=("*ignored*",))
        )
        self.touched: set[Path] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    def can_hold(self, file: Path) -> bool:
        """False where a folder is, or where a file takes the place of a folder above."""
        return not (file.is_dir() or any(folder.is_file() for folder in file.parents))

    @rule(path=paths, text=st.sampled_from(TEXTS))
    def write(self, path: str, text: str) -> None:
        file = self.desk.root / path
        if self.can_hold(file):
            self.touched.add(self.desk.write(path, text))

    @rule(path=paths)
    def delete(self, path: str) -> None:
        file = self.desk.root / path
        if file.is_file():
            file.unlink()
            self.touched.add(file)

    @rule(old=paths, new=paths)
    def move(self, old: str, new: str) -> None:
        source, target = self.desk.root / old, self.desk.root / new
        if source.is_file() and self.can_hold(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            self.touched |= {source, target}

    @rule(name=st.sampled_from(["x", "x/y", "é"]), new=st.sampled_from(["moved", "x2", "ignored"]))
    def move_folder(self, name: str, new: str) -> None:
        source, target = self.desk.root / name, self.desk.root / new
        if source.is_dir() and not target.exists():
            source.rename(target)
            self.touched |= {source, target}

    @rule()
    def sync(self) -> None:
        self.desk.sync()
        self.touched.clear()

    @rule()
    def sync_hinted(self) -> None:
        self.desk.sync(paths=sorted(self.touched))
        self.touched.clear()

    @rule(is_whole=st.booleans())
    def sync_in_a_hurry(self, is_whole: bool) -> None:
        self.desk.sync(paths=None if is_whole else sorted(self.touched), timeout_seconds=5.0)
        self.touched.clear()

    @rule(limit=st.integers(0, 2))
    def sync_a_little(self, limit: int) -> None:
        self.desk.sync(embed_limit=limit)
        self.touched.clear()

    @invariant()
    def hinted_or_not_the_index_equals_a_fresh_one(self) -> None:
        if self.touched:
            return
        self.desk.sync(paths=[])  # only finishes the vectors
        fresh = Desk(self.desk.root, embedder=self.desk.embedder, scan=self.desk.scan)
        fresh.sync()
        assert content(self.desk.index, self.desk.embedder) == content(fresh.index, fresh.embedder)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=25, stateful_step_count=15)
