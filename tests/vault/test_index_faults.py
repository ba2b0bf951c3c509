"""An index is a cache: whatever happens to it, answers come from the files in the end and say so until then."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cogvault import Hits, Vault, engine
from cogvault.embedders import CachedEmbedder, HashingEmbedder
from cogvault.errors import CogvaultError, ModelError, VaultError
from cogvault.types import FloatArray, Status
from tests.settling import settle
from tests.vault.conftest import Shelf, ids
from tests.vault.untouched import tree

CARDS = 12


@pytest.fixture
def library(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setattr(engine, "FIRST_LOOK_SECONDS", 60.0)  # the machine may be busy: repairs are waited for
    for number in range(CARDS):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat number{number} digs\n")
    return shelf


def folder_of(vault: Vault) -> Path:
    return Path(vault.status().index)


class Failing(HashingEmbedder):
    """Fails on texts that hold a word, until it is mended."""

    def __init__(self, word: str, error: Exception) -> None:
        super().__init__(32)
        self.word, self.error = word, error

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        if any(self.word and self.word in text for text in texts):
            raise self.error
        return super().embed_documents(texts)


@pytest.mark.parametrize(
    "error", [ModelError("out of memory"), RuntimeError("bad token")], ids=["model fails", "text fails"]
)
def test_a_chunk_that_was_not_embedded_is_pending_until_it_is(library: Shelf, error: Exception) -> None:
    embedder = Failing("number2 ", error)
    vault = library.open(embedder=embedder)
    vault.sync()
    status = vault.status()
    assert (status.status, status.pending > 0) == (Status.DEGRADED, True)
    assert str(status.pending) in status.reason
    hits = vault.search("wombat number2")
    assert (ids(hits)[0], hits.status) == ("2.md", Status.DEGRADED)
    vault.close()
    mended = library.open(embedder=Failing("", error))
    assert mended.sync().pending_vectors == 0
    assert (mended.status().status, mended.status().pending) == (Status.OK, 0)
    alone = library.open(embedder=Failing("", error), rankers=("semantic",))
    assert "2.md" in ids(alone.search("wombat number2", min_score=0.0))


KILLED = """
import os, signal, sys
from cogvault import Config, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.indexes import LocalIndex

root, folder, place, number = *sys.argv[1:4], int(sys.argv[4])
seen = 0

def die(*_):
    global seen
    seen += 1
    if seen >= number:
        os.kill(os.getpid(), signal.SIGKILL)

class Dying(HashingEmbedder):
    def embed_documents(self, texts):
        if place == "embedder":
            die()
        return super().embed_documents(texts)

class Index(LocalIndex):
    def apply(self, change):
        done = super().apply(change)
        if place == "index":
            die()
        return done

import cogvault.resources
cogvault.resources.LocalIndex = Index
from dataclasses import replace
from cogvault.indexing.options import SyncOptions
usual = SyncOptions.from_config
SyncOptions.from_config = classmethod(
    lambda cls, *args, **named: replace(usual(*args, **named), card_batch=4, vector_batch=4)
)
config = Config(index_dir=folder, refresh_seconds=0, threads=1)
Vault(root, config, embedder=Dying(32)).sync()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on Windows")
@pytest.mark.parametrize(
    ("place", "number"), [("embedder", 1), ("embedder", 2), ("index", 1), ("index", 3), ("index", 5)]
)
def test_a_killed_sync_is_completed_by_the_next(library: Shelf, place: str, number: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, library.root, library.indexes, place, str(number)])
    assert done.returncode == -signal.SIGKILL
    vault = library.open(embedder=HashingEmbedder(32))
    before = vault.search("wombat number7", sync=False)
    assert before.status in (Status.STALE, Status.DEGRADED)  # never "ok" nor "empty"
    assert ids(vault.search("wombat number7"))[0] == "7.md"
    vault.sync()
    status = vault.status()
    assert (status.status, status.cards, status.pending) == (Status.OK, CARDS, 0)
    assert status.vectors > 0


def test_the_same_card_put_twice_is_found_by_its_new_words_only(library: Shelf) -> None:
    vault = library.open(embedder=HashingEmbedder(32))
    for word in ("alpha", "beta", "gamma"):
        library.write("1.md", f"# Card 1\n\nthe {word} text\n")
        vault.sync()
    for ranker in ("keyword", "title"):
        alone = library.open(rankers=(ranker,))
        assert ids(alone.search("alpha")) == ids(alone.search("beta")) == []
    assert ids(vault.search("gamma"))[0] == "1.md"
    assert len(vault.cards()) == CARDS


def zero_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4096] = bytes(len(data[middle : middle + 4096]))
    path.write_bytes(bytes(data))


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def text(path: Path) -> None:
    path.write_text("this is no index\n" * 200)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def gone(path: Path) -> None:
    path.unlink()


DAMAGES = [zero_page, zeros, text, half, gone]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", ["catalog.sqlite", "folders.sqlite", "keyword-*/*", "**/*"])
def test_a_damaged_index_is_made_anew_from_the_files(library: Shelf, part: str, damage: Callable[[Path], None]) -> None:
    first = library.open(embedder=HashingEmbedder(32))
    first.sync()
    folder = folder_of(first)
    first.close()
    before = tree(library.root)
    for path in [path for path in folder.glob(part) if path.is_file()]:
        damage(path)
    second = library.open(embedder=HashingEmbedder(32))
    for number in (3, 7):
        hits = second.search(f"wombat number{number}")
        assert ids(hits)[0] == f"{number}.md"
        assert hits.status in (Status.OK, Status.DEGRADED)
    assert second.layers().abstract
    second.sync()
    assert (second.status().status, second.status().cards) == (Status.OK, CARDS)
    assert tree(library.root) == before


def strange_keyword_folder(folder: Path) -> None:
    (folder / "keyword-1 (conflicted copy)").mkdir()
    (folder / "keyword-9x").write_text("x")


def file_for_folder(folder: Path) -> None:
    (folder / "damaged").write_text("x")


def folder_for_file(folder: Path) -> None:
    (folder / "catalog-new.sqlite").mkdir()


def deep_list(folder: Path) -> None:
    for file in folder.glob("keyword-*/meta.json"):
        file.write_text("[" * 100_000)


def state(column: str, value: str) -> Callable[[Path], None]:
    def alter(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "catalog.sqlite")) as connection, connection:
            connection.execute(f"UPDATE state SET {column} = ?", (value,))

    return alter


STRANGE = [
    strange_keyword_folder,
    file_for_folder,
    folder_for_file,
    deep_list,
    state("identity", "[1]"),
    state("identity", "{"),
    state("keyword", "../../beside"),
    state("keyword", "keyword-x"),
    state("keyword", ""),
]


@pytest.mark.parametrize("alter", STRANGE)
@pytest.mark.parametrize("part", ["none", "catalog.sqlite", "keyword-*/*.idx"])
def test_strange_things_in_the_index_folder_heal_or_do_no_harm(
    library: Shelf, alter: Callable[[Path], None], part: str
) -> None:
    library.vault.sync()
    folder = folder_of(library.vault)
    library.vault.close()
    (folder.parent.parent / "beside").mkdir()
    alter(folder)
    for path in folder.glob(part):
        if path.is_file():
            path.write_bytes(b"nothing")
    vault = library.open()
    assert ids(vault.search("wombat number3"))[0] == "3.md"
    library.write("7.md", "# Card 7\n\nwombat number7 sleeps\n")
    vault.sync()
    hits = vault.search("wombat sleeps")
    assert (ids(hits)[0], hits.status, vault.status().status) == ("7.md", Status.OK, Status.OK)
    assert (folder.parent.parent / "beside").is_dir()


@pytest.mark.parametrize("damage", [text, half, gone])
def test_a_catalog_that_is_damaged_in_use_is_never_an_empty_answer(
    library: Shelf, damage: Callable[[Path], None]
) -> None:
    vault = library.open(refresh_seconds=3600)
    vault.sync()
    catalog = folder_of(vault) / "catalog.sqlite"
    with closing(sqlite3.connect(catalog)) as connection:  # what SQLite keeps in its log would hide the damage
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(catalog)
    for query in ("wombat number7", "wombat number3"):
        hits = vault.search(query)
        assert ids(hits)[0] == f"{query[-1]}.md"
    assert ids(vault.search("wombat number7", sync=False))[0] == "7.md"
    assert vault.status().cards == CARDS


NOT_TEXT = """UPDATE {table} SET {column} = CAST(CAST({column} AS BLOB) || x'ff' AS TEXT)"""


@pytest.mark.parametrize("use", [Vault.sync, Vault.cards, Vault.status, lambda vault: vault.search("wombat number7")])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("cards", "card"),
        ("cards", "id"),
        ("cards", "hash"),
        ("words", "form"),
        ("state", "identity"),
        ("state", "keyword"),
        ("state", "uuid"),
    ],
)
def test_bytes_that_are_no_text_are_damage_that_heals_itself(
    library: Shelf, table: str, column: str, use: Callable[[Vault], object]
) -> None:
    vault = library.vault
    vault.sync()
    catalog = folder_of(vault) / "catalog.sqlite"
    vault.close()
    with closing(sqlite3.connect(catalog)) as connection, connection:
        connection.execute(NOT_TEXT.format(table=table, column=column))
    second = library.open()
    use(second)
    assert ids(second.search("wombat number3"))[0] == "3.md"
    second.sync(verify=True)
    assert (second.status().status, second.status().cards) == (Status.OK, CARDS)
    third = library.open()
    assert ids(third.search("wombat number7"))[0] == "7.md"


def test_an_index_folder_that_vanishes_in_use_is_never_an_empty_answer(library: Shelf) -> None:
    vault = library.open(refresh_seconds=3600)
    vault.sync()
    shutil.rmtree(folder_of(vault))
    hits = vault.search("wombat number7", sync=False)
    assert hits.status is Status.STALE
    assert hits.reason
    assert hits.hint
    assert ids(vault.search("wombat number7"))[0] == "7.md"
    assert ids(vault.search("wombat number3", sync=False))[0] == "3.md"


@pytest.mark.parametrize("is_changed", [False, True], ids=["nothing changed", "a file changed"])
def test_a_write_transaction_of_another_program_holds_no_search_up(library: Shelf, is_changed: bool) -> None:
    vault = library.vault
    settle(vault.path)
    vault.sync()
    if is_changed:
        library.write("7.md", "# Card 7\n\nwombat number7 sleeps\n")
    other = sqlite3.connect(folder_of(vault) / "catalog.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers: list[Hits] = []
    reader = threading.Thread(target=lambda: answers.append(vault.search("wombat number7")))
    reader.start()
    reader.join(timeout=20)  # the lock is held until the search has answered
    held = not answers
    other.execute("ROLLBACK")
    other.close()
    reader.join()
    assert not held, "the search waited for the writer"
    [hits] = answers
    assert (ids(hits)[0], hits.status) == ("7.md", Status.STALE if is_changed else Status.OK)
    assert bool(hits.reason) is bool(hits.hint) is is_changed
    after = vault.search("wombat number7")
    assert (after.status, "sleeps" in after[0].text) == (Status.OK, is_changed)


WRITER = """
import sys
from pathlib import Path
from cogvault import Config, Vault

root, folder, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with Vault(root, Config(model="none", index_dir=folder, refresh_seconds=0, threads=1)) as vault:
    for number in range(200):
        (root / f"{name}.md").write_text(f"# {name}\\n\\n{name} says word{number}\\n")
        assert vault.sync().status == "ok"
        if number % 10 == 9:
            hits = vault.search(f"word{number}", min_score=0.0)
            assert f"{name}.md" in [hit.id for hit in hits], (number, hits)
"""


@pytest.mark.timeout(600)  # 400 commits, one after the other
def test_two_processes_write_and_search_one_index_and_none_fails(library: Shelf) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, library.root, library.indexes, name], stderr=subprocess.PIPE, text=True
        )
        for name in ("ana", "wei")
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=500)
        assert writer.returncode == 0, said
    assert len(library.vault.search("word199", k=9, min_score=0.0)) == 2
    assert library.vault.status().cards == CARDS + 2


class NoExtensions(sqlite3.Connection):
    """As Pythons are built for macOS and by pyenv."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("enable_load_extension", "load_extension"):
            raise AttributeError(name)
        return super().__getattribute__(name)


def test_nothing_needs_extensions_of_sqlite(library: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    opened = []

    def plain(*args: Any, **named: Any) -> sqlite3.Connection:
        opened.append(args)
        connection: sqlite3.Connection = connect(*args, **{**named, "factory": NoExtensions})
        return connection

    monkeypatch.setattr("sqlite3.connect", plain)
    vault = library.open(embedder=HashingEmbedder(32))
    assert vault.sync().status is Status.OK
    assert ids(vault.search("wombat number7"))[0] == "7.md"
    (library.root / "1.md").unlink()
    vault.sync(verify=True)
    assert (vault.status().status, vault.status().cards) == (Status.OK, CARDS - 1)
    assert vault.layers().abstract
    assert opened


def test_a_closed_vault_says_so_whatever_it_is_asked(library: Shelf) -> None:
    vault = library.vault
    vault.sync()
    vault.close()
    vault.close()
    calls: dict[str, Callable[[], object]] = {
        "search": lambda: vault.search("wombat"),
        "search without a look": lambda: vault.search("wombat", sync=False),
        "sync": vault.sync,
        "read": lambda: vault.read("1.md"),
        "cards": vault.cards,
        "status": vault.status,
        "layers": vault.layers,
    }
    for name, call in calls.items():
        with pytest.raises(VaultError, match="closed") as caught:
            call()
        assert caught.value.hint, name
    assert ids(library.open().search("wombat number7"))[0] == "7.md"


def test_a_vault_that_is_closed_under_searches_gives_answers_or_says_so(library: Shelf) -> None:
    vault = library.vault
    vault.sync()
    started = threading.Barrier(5)
    wrong: list[BaseException] = []

    def search() -> None:
        started.wait()
        try:
            while True:
                assert ids(vault.search("wombat number7"))[0] == "7.md"
        except CogvaultError as error:
            if "closed" not in str(error):
                wrong.append(error)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    vault.close()
    for thread in threads:
        thread.join(timeout=60)
    assert wrong == []


@pytest.mark.skipif(os.name != "posix", reason="rights of another kind")
def test_what_is_kept_outside_the_vault_is_for_its_user_alone(library: Shelf) -> None:
    before = os.umask(0)
    try:
        caches = library.caches / "of" / "this" / "test"
        vault = library.open(
            embedder=CachedEmbedder(HashingEmbedder(), caches / "vectors.sqlite"), index_dir=caches / "indexes"
        )
        vault.sync()
        vault.search("wombat")
        vault.layers()
    finally:
        os.umask(before)
    made = [library.caches, *(path for path in library.caches.rglob("*") if path.is_dir())]
    assert len(made) > 5
    assert [folder for folder in made if folder.stat().st_mode & 0o077] == []
    assert folder_of(vault) in made
