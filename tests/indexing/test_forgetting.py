"""A removed card leaves every file that a sync keeps of a vault, on the machine too."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from cogvault.embedders import CachedEmbedder
from cogvault.embedders.kept_vectors import KeptVectors
from cogvault.embedders.vector_store import VectorStore
from cogvault.indexes import LocalIndex
from cogvault.indexing.scan import ScanOptions
from cogvault.layers.cache import SummaryCache, SummaryKey
from cogvault.layers.folder_store import FolderStore
from cogvault.layers.summarizers import ExtractiveSummarizer
from tests.indexing.support import Desk, SpyEmbedder

SECRET = "The launch code is xyzzyplugh."


class Keeping(ExtractiveSummarizer):
    """As one that asks a model: keeps what it gave."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.cache = SummaryCache(path)

    def forget(self, id: str) -> None:
        self.cache.forget(id)


def holding(folder: Path, *needles: bytes) -> list[str]:
    """Files that hold one of some byte strings."""
    files = {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return [name for name, content in files.items() if any(needle in content for needle in needles)]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def desk(vault: Path, kept: Path) -> Desk:
    desk = Desk(vault, LocalIndex(kept / "index"), scan=ScanOptions(recursive=True))
    desk.embedder = CachedEmbedder(SpyEmbedder(dim=64), kept / "vectors.sqlite")
    desk.folders = FolderStore(kept / "folders.sqlite")
    return desk


def vector(texts: Sequence[str]) -> bytes:
    return bytes(SpyEmbedder(dim=64).embed_documents(texts)[0].astype("<f4").tobytes())


def test_a_deleted_file_leaves_caches_layers_and_index(desk: Desk, kept: Path) -> None:
    desk.summarizer = summarizer = Keeping(kept / "summaries.sqlite")
    desk.write("secret/a.md", f"# Codes\n\n{SECRET}")
    desk.write("b.md", "# Other\n\nnothing to hide")
    desk.sync()
    summarizer.cache.put("secret/a.md", SummaryKey("1", "abstract", "1", "model"), SECRET)
    needles = (b"xyzzyplugh", vector([SECRET]))
    assert {"vectors.sqlite", "folders.sqlite", "summaries.sqlite"} <= set(holding(kept, *needles))
    (desk.root / "secret" / "a.md").unlink()
    assert desk.sync().removed == ("secret/a.md",)
    assert holding(kept, *needles) == []
    assert holding(kept, vector(["nothing to hide"])) == ["vectors.sqlite"], "the other card's stays"


def test_edited_and_moved_cards_keep_their_cached_vectors(desk: Desk, kept: Path) -> None:
    desk.write("a.md", f"# Codes\n\n{SECRET}")
    desk.write("b.md", "# Other\n\nnothing to hide")
    desk.sync()
    desk.write("a.md", "# Codes\n\nchanged")
    (desk.root / "b.md").rename(desk.root / "c.md")
    desk.sync()
    assert holding(kept, vector([SECRET])) == holding(kept, vector(["nothing to hide"])) == ["vectors.sqlite"]


@pytest.mark.parametrize("is_owned", [True, False])
def test_a_process_without_a_model_leaves_no_vector_either(desk: Desk, kept: Path, is_owned: bool) -> None:
    texts = [SECRET, "The launch code is frobozz."]
    for text in texts:
        desk.write("a.md", text)
        desk.write("b.md", "nothing to hide")
        desk.sync()
    if not is_owned:  # a cache of before cards owned their texts
        with closing(sqlite3.connect(kept / "vectors.sqlite")) as database, database:
            database.execute("DELETE FROM owners")
    desk.embedder, desk.kept = None, KeptVectors(VectorStore(kept / "vectors.sqlite"))
    (desk.root / "a.md").rename(desk.root / "c.md")
    desk.sync()
    (desk.root / "c.md").unlink()
    assert desk.sync().removed == ("c.md",)
    assert [bool(holding(kept, vector([text]))) for text in texts] == [not is_owned, False]
    assert holding(kept, vector(["nothing to hide"])), "the other card's stays"


def test_a_removed_card_takes_the_vectors_of_all_its_earlier_texts_along(desk: Desk, kept: Path) -> None:
    texts = [SECRET, "The launch code is frobozz.", "The launch code changed again."]
    for text in texts:
        desk.write("secret/a.md", text)
        desk.write("b.md", "nothing to hide")
        desk.sync()
    (desk.root / "secret/a.md").rename(desk.root / "c.md")
    desk.write("d.md", "nothing to hide either")
    assert desk.sync().moved == (("secret/a.md", "c.md"),)
    desk.write("c.md", "A harmless text.")
    desk.sync()
    needles = [vector([text]) for text in (*texts, "A harmless text.")]
    assert all(holding(kept, needle) for needle in needles)
    (desk.root / "c.md").unlink()
    desk.sync()
    assert holding(kept, *needles) == []
    assert holding(kept, vector(["nothing to hide"])), "the other card's stays"


def test_vectors_of_other_models_go_too(desk: Desk, kept: Path) -> None:
    desk.write("a.md", SECRET)
    desk.sync()
    other = SpyEmbedder(dim=32)
    desk.embedder = CachedEmbedder(other, kept / "vectors.sqlite")
    desk.sync()
    needles = (vector([SECRET]), other.embed_documents([SECRET])[0].astype("<f4").tobytes())
    assert all("vectors.sqlite" in holding(kept, needle) for needle in needles)
    (desk.root / "a.md").unlink()
    desk.sync()
    assert holding(kept, *needles) == []
