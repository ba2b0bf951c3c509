"""Models that are away, broken, changed or shared, as a vault meets them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cogvault.embedders import HashingEmbedder
from cogvault.registry import ModelPool
from cogvault.types import FloatArray, Status
from tests.embedders.conftest import local_model  # noqa: F401 - a fixture
from tests.settling import settle
from tests.vault.conftest import Shelf, ids

SEMANTIC: dict[str, Any] = {"rankers": ("semantic",), "thresholds": (0.05,)}


class Recording(HashingEmbedder):
    """Keeps what it was asked to embed."""

    def __init__(self, dim: int = 32) -> None:
        super().__init__(dim)
        self.calls: list[list[str]] = []

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        self.calls.append(list(texts))
        return super().embed_documents(texts)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """No connection leaves this machine; who tried is listed."""
    tried: list[object] = []

    def refuse(_: object, address: object, *__: object, **___: object) -> None:
        tried.append(address)
        raise ConnectionRefusedError("no network")

    for variable in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    return tried


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("intfloat/multilingual-e5-small", "'intfloat/multilingual-e5-small' is not on this machine"),
        ("nobody/nothing", "knows no model 'nobody/nothing'"),
        ("openai:tiny@http://127.0.0.1:9/v1", "the model server cannot be reached"),
    ],
)
@pytest.mark.usefixtures("offline")
def test_a_model_that_cannot_be_had_leaves_keyword_recall_and_says_why(shelf: Shelf, model: str, why: str) -> None:
    shelf.write("a.md", "# Marsupials\n\nwombat digs\n")
    vault = shelf.open(model=model)
    first = vault.search("wombat")
    assert (ids(first), first.status) == (["a.md"], Status.DEGRADED)
    report = vault.sync()
    assert (report.status, report.added, report.unchanged) == (Status.DEGRADED, (), 1)
    hits = vault.search("wombat")
    assert ids(hits) == ["a.md"]
    for said in (first, report, hits, vault.status()):
        assert (said.status, why in said.reason, bool(said.hint)) == (Status.DEGRADED, True, True), said


def test_vectors_are_added_by_the_next_sync_once_a_model_is_there(shelf: Shelf) -> None:
    shelf.write("a.md", "# Marsupials\n\nwombat digs\n")
    without = shelf.open(model="none")
    without.sync()
    assert without.search("wombat").status is Status.OK
    without.close()
    vault = shelf.open(embedder=HashingEmbedder(32))
    report = vault.sync()
    assert (report.added, report.pending_vectors) == ((), 0)
    assert report.embedded > 0
    assert vault.status().status is Status.OK


def test_a_damaged_model_folder_is_named_and_keyword_recall_goes_on(
    shelf: Shelf,
    local_model: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = Path(shutil.copytree(local_model, tmp_path / "my-model"))
    weights = folder / "model.onnx"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    shelf.write("a.md", "# Marsupials\n\nwombat digs\n")
    vault = shelf.open(model=str(folder))
    report = vault.sync()
    hits = vault.search("wombat")
    assert (ids(hits), hits.status, report.status) == (["a.md"], Status.DEGRADED, Status.DEGRADED)
    assert "model.onnx" in report.reason or "my-model" in report.reason
    assert "my-model" in vault.status().reason
    vault.close()
    weights.write_bytes(whole)
    mended = shelf.open(model=str(folder))
    assert mended.sync().pending_vectors == 0
    assert mended.search("marsupial").status is Status.OK


@pytest.mark.parametrize("kept", ["nothing", "no weights", "no tokenizer"])
def test_a_folder_that_is_no_model_leaves_keyword_recall(
    shelf: Shelf,
    local_model: Path,  # noqa: F811
    tmp_path: Path,
    kept: str,
) -> None:
    folder = Path(shutil.copytree(local_model, tmp_path / "my-model"))
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        is_lost = {"no weights": file.suffix == ".onnx", "no tokenizer": file.name == "tokenizer.json"}
        if is_lost.get(kept, True):
            file.unlink()
    shelf.write("a.md", "# Marsupials\n\nwombat digs\n")
    vault = shelf.open(model=str(folder))
    first = vault.search("wombat")
    report = vault.sync()
    for said in (first, report, vault.search("wombat"), vault.status()):
        assert (said.status, "my-model" in said.reason, bool(said.hint)) == (Status.DEGRADED, True, True), said
    assert ids(first) == ["a.md"]


def test_a_model_that_vanishes_in_use_leaves_keyword_recall(
    shelf: Shelf,
    local_model: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = Path(shutil.copytree(local_model, tmp_path / "my-model"))
    shelf.write("a.md", "# Marsupials\n\nwombat digs\n")
    shelf.open(model=str(folder)).sync()
    shutil.rmtree(folder)
    vault = shelf.open(model="auto")
    hits = vault.search("wombat")
    report = vault.sync()
    assert ids(hits) == ["a.md"]
    for said in (hits, report, vault.status()):
        assert (said.status, bool(said.reason), bool(said.hint)) == (Status.DEGRADED, True, True), said


def test_another_width_embeds_every_card_again_and_says_so_meanwhile(shelf: Shelf) -> None:
    for number in range(5):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat{number} digs burrows\n")
    narrow = shelf.open(embedder=HashingEmbedder(16))
    narrow.sync()
    vectors = narrow.status().vectors
    narrow.close()
    wide = Recording(64)
    vault = shelf.open(embedder=wide, refresh_seconds=3600)
    before = vault.search("wombat3 digs", sync=False)
    assert (ids(before)[0], before.status) == ("3.md", Status.DEGRADED)
    assert before.reason
    vault.sync()
    status = vault.status()
    assert (status.vectors, status.pending, status.status) == (vectors, 0, Status.OK)
    assert len(wide.texts) >= vectors
    assert ids(shelf.open(embedder=HashingEmbedder(64), **SEMANTIC).search("wombat3 digs"))[0] == "3.md"


def test_the_model_of_the_index_wins_over_the_default(shelf: Shelf) -> None:
    settle(shelf.write("a.md", "# Marsupials\n\nwombat digs\n").parent)
    daemon = shelf.open(model="hashing")
    daemon.sync()
    sequence = daemon.status().sequence
    daemon.close()
    command = shelf.open(model="auto")
    report = command.sync()
    status = command.status()
    assert (status.model, status.pending, report.embedded, status.sequence) == ("hashing", 0, 0, sequence)
    assert command.search("wombat").status is Status.OK


def test_a_vault_without_a_model_leaves_the_vectors_of_one_that_has_it(shelf: Shelf) -> None:
    for number in range(5):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat{number} digs burrows\n")
    shelf.open(model="hashing").sync()
    shelf.write("1.md", "# Card 1\n\nan edit\n")
    plain = shelf.open(model="none")
    plain.sync()
    assert ids(plain.search("edit")) == ["1.md"]
    vault = shelf.open(model="auto")
    assert vault.sync().embedded <= 2
    assert (vault.status().model, vault.status().pending) == ("hashing", 0)


def test_four_threads_of_three_vaults_load_one_model(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[HashingEmbedder] = []

    class Counted(HashingEmbedder):
        def __init__(self) -> None:
            made.append(self)
            super().__init__()

    monkeypatch.setattr("cogvault.embedders.HashingEmbedder", Counted, raising=False)
    pool = ModelPool(shelf.caches)
    vaults = []
    for name in ("one", "two", "three"):
        root = tmp_path / name
        root.mkdir()
        (root / "a.md").write_text(f"# Card\n\nwombat {name}\n")
        vaults.append(shelf.open(root, model="hashing", models=pool))
    start = threading.Barrier(12)
    wrong: list[BaseException] = []

    def use(place: int) -> None:
        start.wait()
        try:
            vaults[place % 3].sync()
            assert ids(vaults[place % 3].search("wombat")) == ["a.md"]
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=use, args=(place,)) for place in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(made) == 1


def test_what_is_given_to_a_model_is_bounded_and_never_blank(shelf: Shelf) -> None:
    for number in range(100):
        shelf.write(f"n/{number}.md", "\n\n".join(f"## Part {part}\n\nwombat {number} {part}" for part in range(5)))
    shelf.write("long.md", "word " * 20_000)
    shelf.write("solid.md", "x" * 100_000)
    for name, content in (
        ("empty.md", ""),
        ("blank.md", " \n\t\n"),
        ("only.md", "---\ntags: [a]\n---\n"),
        ("1.md", ""),
    ):
        shelf.write(name, content)
    embedder = Recording(64)
    vault = shelf.open(embedder=embedder)
    assert vault.sync().pending_vectors == 0
    assert all(text.strip() for text in embedder.texts)
    assert max(map(len, embedder.calls)) <= 256
    assert max(embedder.count_tokens(embedder.texts)) <= embedder.max_tokens
    assert len(set(embedder.texts)) == len(embedder.texts)
    before = len(embedder.calls)
    vault.sync(verify=True)
    assert len(embedder.calls) == before


def test_equal_paragraphs_survive_each_other(shelf: Shelf) -> None:
    shared = "the marsupial digs a burrow under the fence"
    shelf.write("a.md", f"# One\n\n{shared}\n\n## Again\n\n{shared}\n")
    shelf.write("b.md", f"# One\n\n{shared}\n")
    vault = shelf.open(embedder=HashingEmbedder(64), **SEMANTIC)
    vault.sync()
    assert sorted(ids(vault.search(shared))) == ["a.md", "b.md"]
    (shelf.root / "a.md").unlink()
    assert ids(vault.search(shared)) == ["b.md"]
    shelf.write("b.md", f"# One\n\n{shared}\n\nand more\n\n{shared}\n")
    assert ids(vault.search(shared)) == ["b.md"]
    assert vault.status().pending == 0


def test_scores_after_a_rename_are_those_of_a_fresh_index(shelf: Shelf) -> None:
    animals = ("wombat", "quokka", "numbat", "bilby", "dingo", "possum", "kowari", "potoroo")
    for animal in animals:
        shelf.write(f"{animal}.md", f"{animal} eats leaves\n")
    vault = shelf.open(embedder=HashingEmbedder(64))
    vault.sync()
    for number, animal in enumerate(animals):
        (shelf.root / f"{animal}.md").rename(shelf.root / f"leaves eaten {number}.md")
    assert len(vault.sync().moved) == len(animals)
    fresh = shelf.open(embedder=HashingEmbedder(64), index_dir=shelf.indexes / "fresh")
    fresh.sync()
    for query in ("who eats leaves", "wombat"):
        assert [(hit.id, hit.score) for hit in vault.search(query)] == [
            (hit.id, hit.score) for hit in fresh.search(query)
        ]
