"""Every answer says what it is worth: ok, empty, stale, degraded, failed. A fault never looks like "nothing found"."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from cogvault import Hits
from cogvault.embedders import HashingEmbedder
from cogvault.errors import IndexFault, ModelError, SnapshotExpired
from cogvault.indexes import MemoryIndex
from cogvault.indexes.memory import MemorySnapshot
from cogvault.types import ChangeSet, FloatArray, Status
from cogvault_cli.main import cli
from tests.vault.conftest import Shelf, ids


def command(shelf: Shelf, *args: str, **environ: str) -> tuple[int, dict[str, object]]:
    """Exit code and document of a command."""
    usual = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(shelf.indexes), "COGVAULT_REFRESH_SECONDS": "0"}
    result = CliRunner().invoke(cli, [*args, "--json", "--tenant", str(shelf.root)], env={**usual, **environ})
    document: dict[str, object] = json.loads(result.stdout)
    return result.exit_code, document


def test_ok(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    hits = shelf.vault.search("wombat")
    assert (ids(hits), hits.status, hits.reason, hits.hint) == (["a.md"], Status.OK, "", "")
    assert (shelf.vault.status().status, shelf.vault.status().reason) == (Status.OK, "")
    assert shelf.vault.sync().status is Status.OK
    code, document = command(shelf, "search", "wombat")
    assert (code, document["status"]) == (0, "ok")


@pytest.mark.parametrize("query", ["quokka", "", "?!"])
def test_empty(shelf: Shelf, query: str) -> None:
    shelf.write("a.md", "wombat\n")
    hits = shelf.vault.search(query)
    assert (list(hits), hits.status) == ([], Status.EMPTY)
    assert hits.reason
    assert hits.hint
    code, document = command(shelf, "search", query or " ")
    assert (code, document["status"], document["hits"]) == (0, "empty", [])
    assert document["reason"]
    assert document["hint"]


def test_stale_when_another_sync_does_not_end(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.write("b.md", "quokka\n")
    with FileLock(Path(shelf.vault.status().index) / "sync.lock"):
        hits = shelf.vault.search("wombat")
        code, document = command(shelf, "search", "wombat")
        status = shelf.vault.status()
        missed = shelf.vault.search("quokka")
    assert (ids(hits), hits.status) == (["a.md"], Status.STALE)
    assert (code, document["status"]) == (0, "stale")
    assert (list(missed), missed.status, status.status) == ([], Status.STALE, Status.STALE)
    for said in (hits, status, missed):
        assert said.reason
        assert said.hint
    assert (shelf.found("quokka"), shelf.vault.search("wombat").status) == (["b.md"], Status.OK)


def test_stale_until_all_files_are_looked_at_again_whatever_is_written_meanwhile(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    with shelf.open() as vault:
        vault.sync()
        place = Path(vault.status().index)
    vault = shelf.open(refresh_seconds=3600)
    shelf.write("hand.md", "quokka\n")
    with FileLock(place / "sync.lock"):
        first = vault.search("quokka")
    written = vault.record("A fact about tea.", title="Tea")
    hits, missed = vault.search("tea"), vault.search("quokka")
    assert [said.status for said in (first, hits, missed)] == [Status.STALE] * 3
    assert (ids(hits), list(missed), missed.reason) == ([written.id], [], first.reason)
    vault.sync()
    hits = vault.search("quokka")
    assert (ids(hits), hits.status) == (["hand.md"], Status.OK)


def test_a_sync_that_finds_another_at_work_leaves_the_vault_stale(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.write("hand.md", "quokka\n")
    vault = shelf.open(refresh_seconds=3600, lock_timeout_seconds=0.01)
    with FileLock(Path(shelf.vault.status().index) / "sync.lock"):
        assert vault.sync().status is Status.STALE
        assert vault.search("quokka").status is Status.STALE


def test_stale_when_the_folder_is_gone(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "away")
    for query, expected in (("wombat", ["a.md"]), ("quokka", [])):
        hits = shelf.vault.search(query)
        assert (ids(hits), hits.status) == (expected, Status.STALE)
        assert str(shelf.root) in hits.reason
    assert shelf.vault.status().status is Status.STALE


class Broken(HashingEmbedder):
    """Its model is damaged for documents, for queries, or for both."""

    def __init__(self, *, documents: bool = False, queries: bool = False) -> None:
        super().__init__(32)
        self.documents, self.queries = documents, queries

    def embed_documents(self, texts: list[str]) -> FloatArray:  # type: ignore[override]
        if self.documents:
            raise ModelError("the weights are damaged", hint="fetch them again")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> FloatArray:
        if self.queries:
            raise ModelError("the weights are damaged", hint="fetch them again")
        return super().embed_query(text)


@pytest.mark.parametrize("when", ["documents", "queries"])
@pytest.mark.parametrize(("query", "expected"), [("wombat", ["a.md"]), ("quokka", [])])
def test_degraded_when_the_model_fails(shelf: Shelf, when: str, query: str, expected: list[str]) -> None:
    shelf.write("a.md", "wombat\n")
    embedder = Broken(documents=when == "documents")
    vault = shelf.open(embedder=embedder)
    report = vault.sync()
    embedder.queries = when == "queries"
    hits = vault.search(query)
    assert (ids(hits), hits.status) == (expected, Status.DEGRADED)
    assert hits.reason
    assert hits.hint
    if when == "documents":
        for said in (report, vault.status()):
            assert said.status is Status.DEGRADED
            assert said.reason
            assert said.hint


class Unreadable(MemoryIndex):
    """An index whose disk fails, from a point of time on."""

    is_broken = False

    def snapshot(self) -> MemorySnapshot:
        if self.is_broken:
            raise IndexFault("the disk does not answer", hint="check the disk")
        return super().snapshot()


class Full(MemoryIndex):
    """An index on a full disk."""

    is_full = False

    def apply(self, change: ChangeSet) -> int:
        if self.is_full:
            raise IndexFault("no space left", hint="free some")
        return super().apply(change)


def test_an_index_that_cannot_be_read_is_an_error_and_never_an_empty_answer(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    index = Unreadable()
    vault = shelf.open(index=index)
    vault.sync()
    index.is_broken = True
    for ask in (vault.status, vault.cards, vault.sync, lambda: vault.search("wombat")):
        with pytest.raises(IndexFault) as caught:
            ask()
        assert caught.value.hint
    index.is_broken = False
    assert ids(vault.search("wombat")) == ["a.md"]


def test_an_index_that_cannot_be_written_answers_stale(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    index = Full()
    vault = shelf.open(index=index)
    vault.sync()
    index.is_full = True
    shelf.write("b.md", "quokka\n")
    for query, expected in (("wombat", ["a.md"]), ("quokka", [])):
        hits = vault.search(query)
        assert (ids(hits), hits.status) == (expected, Status.STALE)
        assert "no space left" in hits.reason
    with pytest.raises(IndexFault):
        vault.sync()
    index.is_full = False
    assert ids(vault.search("quokka")) == ["b.md"]
    assert vault.search("quokka").status is Status.OK


def test_status_finds_out_that_the_index_can_be_written_again(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    index = Full()
    vault = shelf.open(index=index)
    vault.sync()
    index.is_full = True
    shelf.write("b.md", "quokka\n")
    with pytest.raises(IndexFault):
        vault.sync()
    assert (vault.status().status, vault.status().cards) == (Status.STALE, 1)
    index.is_full = False
    assert (vault.status().status, vault.status().cards) == (Status.OK, 2)


def test_a_view_that_always_expires_is_an_error_and_never_an_empty_answer(shelf: Shelf) -> None:
    class Restless(MemoryIndex):
        def snapshot(self) -> MemorySnapshot:
            raise SnapshotExpired("purged", hint="take a new snapshot")

    with pytest.raises(IndexFault):
        shelf.open(index=Restless()).search("wombat")


@pytest.mark.parametrize("args", [("search", "wombat"), ("status",), ("index",)])
def test_a_command_that_cannot_use_the_index_says_failed(shelf: Shelf, args: tuple[str, ...]) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.indexes.write_text("a file where the folder of indexes should be\n")
    code, document = command(shelf, *args)
    assert (code, document["status"]) == (3, "failed")
    error = document["error"]
    assert isinstance(error, dict)
    assert (error["kind"], bool(error["message"]), bool(error["hint"])) == ("IndexFault", True, True)


def test_status_names_every_file_with_a_problem(shelf: Shelf) -> None:
    shelf.write("good.md", "wombat\n")
    shelf.write("broken.md", "---\ntitle: [never\n---\nwombat\n")
    shelf.write("latin.md", b"wombat caf\xe9\n")
    shelf.write("binary.md", b"\x00\x01wombat")
    shelf.write("con.md", "wombat\n")
    (shelf.root / "away.md").symlink_to("/etc/hostname")
    report = shelf.vault.sync()
    expected = {"broken.md", "latin.md", "binary.md", "con.md", "away.md"}
    assert {problem.path for problem in (*report.problems, *report.failed)} == expected
    status = shelf.vault.status()
    assert {problem.path for problem in status.problems} == expected
    assert len(status.problems) == len(set(status.problems)) == len(expected)
    assert all(problem.message for problem in status.problems)


def test_every_status_is_one_of_five_words(shelf: Shelf) -> None:
    assert {str(status) for status in Status} == {"ok", "empty", "stale", "degraded", "failed"}
    shelf.write("a.md", "wombat\n")
    hits: Hits = shelf.vault.search("wombat")
    assert hits.to_dict()["status"] == "ok"


def test_a_vault_whose_cards_were_all_deleted_is_told_nothing_untrue(shelf: Shelf) -> None:
    file = shelf.write("deep/a.md", "wombat\n")
    assert shelf.found("wombat") == ["deep/a.md"]
    file.unlink()
    hits = shelf.vault.search("wombat")
    assert (hits.status, hits.reason) == (Status.EMPTY, "the vault has no cards")
    assert "set recursive" not in hits.hint + shelf.vault.status().hint
