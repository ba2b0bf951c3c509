"""What only an index in files does: processes, permissions, history, size."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cogvault.errors import IndexFault
from cogvault.indexes import LocalIndex, MemoryIndex
from cogvault.indexes.local import search, store, vectors
from cogvault.testing.records import ALL, DIM, MODEL, embedded, found, found_cards, identity, record, terms, vector_of
from cogvault.testing.stateful import assert_same_evidence
from cogvault.types import ChangeSet, Filter, Term, TermKind, VectorBatch

_WRITER = """
import sys
from pathlib import Path
from cogvault.indexes import LocalIndex
from cogvault.testing.records import embedded, identity, record
from cogvault.types import ChangeSet

name = sys.argv[2]
index = LocalIndex(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    put = tuple(record(f"{name}{place}.md", f"{name} version {number} of text", "shared text") for place in range(3))
    index.apply(ChangeSet(put=put, remove=(f"{name}old.md",), identity=identity()))
    embedded(index)
index.close()
"""


def test_processes_write_and_threads_read_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("still.md", "shared text"),), identity=identity()))
    embedded(index)
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(folder), name, "8"], cwd=Path(__file__).parents[2])
        for name in ("a", "b")
    ]
    stop = threading.Event()

    def read() -> int:
        rounds = 0
        mine = LocalIndex(folder)
        while not stop.is_set():
            for snapshot in (mine.snapshot(), index.snapshot()):
                for card in snapshot.cards:
                    texts = [stored.chunk.text for stored in snapshot.of_card(card.id)[1:]]
                    assert card.hash == record(card.id, *texts).hash
                hits = snapshot.keyword(terms("shared text"), ALL, 50)
                # Each card has one chunk with both words; none is missing, none is there twice.
                pairs = [stored for stored in snapshot.chunks(found(hits)) if stored.chunk.text == "shared text"]
                assert sorted(stored.card for stored in pairs) == [card.id for card in snapshot.cards]
                snapshot.semantic(vector_of("shared text"), ALL, 5)
                rounds += 1
        mine.close()
        return rounds

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        codes = [writer.wait(timeout=120) for writer in writers]
        stop.set()
        assert all(reader.result() > 0 for reader in readers)
    assert codes == [0, 0]
    snapshot = index.snapshot()
    assert [card.id for card in snapshot.cards] == ["a0.md", "a1.md", "a2.md", "b0.md", "b1.md", "b2.md", "still.md"]
    assert {s.chunk.text for id in ("a0.md", "b2.md") for s in snapshot.of_card(id)} >= {"a version 7 of text"}
    assert snapshot.stats.vectors == snapshot.stats.embeddable
    assert index.verify() == []
    index.close()


def test_another_process_sees_a_published_change(tmp_path: Path) -> None:
    one, two = LocalIndex(tmp_path / "index"), LocalIndex(tmp_path / "index")
    for number in range(3):
        one.apply(ChangeSet(put=(record("a.md", f"number {number}"),), identity=identity()))
        embedded(one)
        snapshot = two.snapshot()
        assert [stored.chunk.text for stored in snapshot.of_card("a.md")[1:]] == [f"number {number}"]
        assert snapshot.stats.vectors == 2
        assert len(snapshot.semantic(vector_of("x"), ALL, 9).chunks) == 2
    one.close()
    two.close()


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    index, other = LocalIndex(tmp_path / "index"), LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    blocking = store.Store(tmp_path / "index", 1)
    with blocking.writing() as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE cards SET hash = 'half done'")
        for each in (index, other):
            assert found_cards(each.snapshot(), each.snapshot().keyword(terms("text"), ALL, 3)) == ["a.md"]
        connection.execute("ROLLBACK")
    blocking.close()
    index.close()
    other.close()


def test_a_writer_that_never_ends_is_an_error_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_LOCK_SECONDS", 0.2)
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    blocking = store.Store(tmp_path / "index", 1)
    with blocking.writing(), pytest.raises(IndexFault, match="locked"):
        index.apply(ChangeSet(remove=("a.md",)))
    blocking.close()
    assert len(index.snapshot().cards) == 1
    index.close()


def test_the_folder_is_private(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "deep" / "index")
    index.snapshot()
    assert stat.S_IMODE((tmp_path / "deep" / "index").stat().st_mode) == 0o700
    index.close()


def test_reading_only_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "text"),), identity=identity()))
    embedded(index)
    index.close()
    before = _listing(folder)
    reading = LocalIndex(folder, read_only=True)
    snapshot = reading.snapshot()
    assert found_cards(snapshot, snapshot.keyword(terms("text"), ALL, 3)) == ["a.md"]
    assert len(snapshot.semantic(vector_of("text"), ALL, 3).chunks) == 2
    with pytest.raises(IndexFault, match="reading only"):
        reading.apply(ChangeSet())
    del snapshot
    reading.close()
    assert {
        name: size for name, size in _listing(folder).items() if "-shm" not in name and "-wal" not in name
    } == before


def test_reading_only_does_without_side_files_of_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    index.close()
    monkeypatch.setattr("cogvault.indexes.local.pool._readable", lambda path, mode: False)
    reading = LocalIndex(folder, read_only=True)
    assert len(reading.snapshot().cards) == 1
    reading.close()


def test_reading_only_does_without_a_damaged_keyword_part(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    index.close()
    for path in folder.glob("keyword-*/*.term"):
        path.write_bytes(b"")
    before = _listing(folder)
    reading = LocalIndex(folder, read_only=True)
    snapshot = reading.snapshot()
    assert found_cards(snapshot, snapshot.keyword(terms("text"), ALL, 3)) == ["a.md"]
    reading.repair(lambda done, total: None)
    assert "damaged" in reading.snapshot().stats.fault
    del snapshot
    reading.close()
    assert {
        name: size for name, size in _listing(folder).items() if "-shm" not in name and "-wal" not in name
    } == before


def test_reading_only_needs_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexFault):
        LocalIndex(tmp_path / "none", read_only=True).snapshot()
    assert not (tmp_path / "none").exists()


def test_dead_words_in_the_keyword_folder_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_GHOSTS", 5)
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=tuple(record(f"{n}.md", "some text", "more text") for n in range(9))))
    first = next((tmp_path / "index").glob("keyword-*"))
    for number in range(6):
        index.apply(ChangeSet(put=(record(f"{number}.md", "new text"),)))
    assert next((tmp_path / "index").glob("keyword-*")) != first
    assert index.snapshot().stats.notes == ()
    assert index.verify() == []
    index.close()


def test_dead_vectors_in_memory_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexes.local.index._DEAD_ROWS", 3)
    monkeypatch.setattr(vectors, "_BLOCK_ROWS", 4)
    index, oracle = LocalIndex(tmp_path / "index"), MemoryIndex()
    for each in (index, oracle):
        each.apply(ChangeSet(identity=identity()))
        for number in range(9):
            each.apply(ChangeSet(put=(record(f"{number % 3}.md", "stays", f"text {number}", f"more {number}"),)))
            embedded(each)
            each.snapshot().semantic(vector_of("text 1"), ALL, 3)
    one, two = index.snapshot(), oracle.snapshot()
    np.testing.assert_array_equal(
        one.semantic(vector_of("text 8"), ALL, 50).scores, two.semantic(vector_of("text 8"), ALL, 50).scores
    )
    assert_same_evidence(one, two, "text 8", 1)
    matrix = index._matrix  # noqa: SLF001
    assert matrix is not None
    # Four of the forty rows that were ever made are alive for each card.
    assert matrix.size < 30
    index.close()


def test_without_numkong_the_answers_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=tuple(record(f"{n}.md", "x", f"y {n}") for n in range(20)), identity=identity()))
    embedded(index)
    fast = index.snapshot().semantic(vector_of("y 3"), ALL, 30)
    index.close()
    monkeypatch.setattr(vectors, "_HAS_NUMKONG", False)
    index = LocalIndex(tmp_path / "index")
    slow = index.snapshot().semantic(vector_of("y 3"), ALL, 30)
    np.testing.assert_array_equal(fast.chunks, slow.chunks)
    np.testing.assert_array_equal(fast.scores, slow.scores)
    index.close()


@pytest.mark.parametrize("named", [0, 3, 1000])
def test_large_filters_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: int) -> None:
    monkeypatch.setattr(search, "_NAMED_CARDS", named)
    monkeypatch.setattr(search, "_LARGE_CHUNKS", 10)
    index, oracle = LocalIndex(tmp_path / "index"), MemoryIndex()
    cards = tuple(
        record(f"{n:02}.md", f"tree {'leaf ' * (n % 5)}", f"word{n} tree", type="x" if n % 4 else "y")
        for n in range(40)
    )
    for each in (index, oracle):
        each.apply(ChangeSet(put=cards))
    for filter in (Filter(types=frozenset({"x"})), Filter(types=frozenset({"y"})), Filter(paths=("07.md",)), ALL):
        for limit in (1, 7, 200):
            one, two = (each.snapshot().keyword(terms("tree leaf"), filter, limit) for each in (index, oracle))
            np.testing.assert_array_equal(one.chunks, two.chunks)
            np.testing.assert_array_equal(one.scores, two.scores)
    index.close()


def test_large_queries_are_counted_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.indexes.local.evidence._WORDS_AT_ONCE", 50)
    monkeypatch.setattr("cogvault.indexes.local.word_cache._CAPACITY_BYTES", 200)
    index, oracle = LocalIndex(tmp_path / "index"), MemoryIndex()
    for each in (index, oracle):
        each.apply(ChangeSet(put=tuple(record(f"{n}.md", *[f"text {n} word{n}"] * n) for n in range(9))))
    assert_same_evidence(index.snapshot(), oracle.snapshot(), " ".join(f"word{n} text{n}" for n in range(300)), 2)
    index.close()


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_vectors_of_cards_are_summed_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("cogvault.indexes.local.view._ROWS_AT_ONCE", at_once)
    index, oracle = LocalIndex(tmp_path / "index"), MemoryIndex()
    for each in (index, oracle):
        cards = tuple(record(f"{n}.md", *[f"text {n} {m}" for m in range(n)]) for n in range(9))
        each.apply(ChangeSet(put=cards, identity=identity()))
        embedded(each)
        each.apply(ChangeSet(put=(record("5.md", "later", "not yet embedded"),)))
    assert_same_evidence(index.snapshot(), oracle.snapshot(), "text 3", 1)
    index.close()


def test_words_with_high_ids_are_kept(tmp_path: Path) -> None:
    many = [" ".join(f"w{number}" for number in range(start, start + 7000)) for start in range(0, 70_000, 7000)]
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", *many, title="t"), record("b.md", "w69999 w3", title="t"))))
    snapshot = index.snapshot()
    hits = snapshot.keyword((Term(TermKind.EXACT, "w69999", 1.0),), ALL, 5)
    assert [(s.card, s.chunk.position) for s in snapshot.chunks(found(hits))] == [("b.md", 1), ("a.md", 10)]
    assert index.verify() == []
    index.close()


def test_snapshots_are_cheap_and_shared_while_nothing_changes(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "text"),), identity=identity()))
    first = index.snapshot()
    assert index.snapshot().cards is first.cards
    embedded(index)
    assert index.snapshot().cards is first.cards
    index.apply(ChangeSet(restamp={"a.md": first.cards[0].stamp}))
    assert index.snapshot().cards is not first.cards
    index.close()


def test_a_snapshot_outlives_its_index_only_to_say_so(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    snapshot = index.snapshot()
    index.close()
    assert len(snapshot.cards) == 1
    assert [stored.chunk.text for stored in snapshot.of_card("a.md")[1:]] == ["text"]


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    for _ in range(3):
        index = LocalIndex(tmp_path / "index")
        index.apply(ChangeSet(put=(record("a.md", "text"),)))
        for _ in range(20):
            index.snapshot().keyword(terms("text"), ALL, 3)
        index.close()
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # noqa: PTH208 - a Path would keep it open


def test_vectors_that_came_for_a_half_embedded_card_are_all_found(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", "x", "y", "z"),), identity=identity()))
    ids = np.array([stored.id for stored in index.snapshot().of_card("a.md")])
    rows = np.eye(4, DIM, dtype=np.float32)
    for place in (3, 0, 2, 1):
        index.apply(ChangeSet(vectors=VectorBatch(MODEL, ids[[place]], rows[[place]])))
        assert found(index.snapshot().semantic(rows[place], ALL, 1)) == [int(ids[place])]
    oracle = MemoryIndex()
    oracle.apply(ChangeSet(put=(record("a.md", "x", "y", "z"),), identity=identity()))
    oracle.apply(ChangeSet(vectors=VectorBatch(MODEL, ids, rows)))
    assert list(index.snapshot().cards) == list(oracle.snapshot().cards)
    assert_same_evidence(index.snapshot(), oracle.snapshot(), "x", 1)
    index.close()


def _listing(folder: Path) -> dict[str, int]:
    """Sizes of all files, without those with which SQLite's readers coordinate."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_replaced_text_leaves_the_log_with_the_first_change_after_its_last_reader(tmp_path: Path) -> None:
    secret = "xyzzyplugh"

    def is_written() -> bool:
        return any(secret.encode() in path.read_bytes() for path in (tmp_path / "index").glob("catalog.sqlite*"))

    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("a.md", secret, title=secret),)))
    index.apply(ChangeSet(put=(record("a.md", "plain"),)))
    assert not is_written()
    index.apply(ChangeSet(put=(record("a.md", secret),)))
    reader = index.snapshot()
    index.apply(ChangeSet(put=(record("a.md", "plain"),)))
    assert is_written()
    assert len(reader.cards) == 1
    del reader
    index.apply(ChangeSet(put=(record("b.md", "other"),)))
    assert not is_written()
    index.close()
