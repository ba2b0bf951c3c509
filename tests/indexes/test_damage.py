"""Damaged files are found, set aside and made anew; what can be kept is kept."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cogvault import Config, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.errors import IndexFault, SnapshotExpired
from cogvault.indexes import LocalIndex, MemoryIndex
from cogvault.indexes.local import damage, search
from cogvault.indexes.local.snapshot import LocalSnapshot
from cogvault.protocols import Index, Snapshot
from cogvault.testing.records import ALL, embedded, identity, record, terms, vector_of
from cogvault.testing.stateful import assert_same_content, assert_same_evidence
from cogvault.types import ChangeSet, Filter, Status
from tests.indexing.support import content

CARDS = tuple(record(f"{n}.md", *(f"text {n} {m} payment service" for m in range(20)), day=n) for n in range(6))


def fill(index: Index) -> None:
    """Cards and vectors, with some history."""
    index.apply(ChangeSet(put=CARDS, identity=identity()))
    index.apply(ChangeSet(put=CARDS[:2], remove=("5.md",)))
    embedded(index)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def zero_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    start = len(data) // 3
    data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    path.write_bytes(bytes(data))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(np.random.default_rng(1).bytes(max(100, path.stat().st_size)))


def repaired(index: Index) -> Index:
    """The same, made whole."""
    index.repair(lambda done, total: None)
    return index


def text(path: Path) -> None:
    path.write_text("this is no index\n" * 50)


def delete(path: Path) -> None:
    path.unlink()


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [zero, zero_middle, truncate, empty, garbage, text, delete, folder_instead]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index folder, to be copied."""
    folder = tmp_path_factory.mktemp("sound") / "index"
    index = LocalIndex(folder)
    fill(index)
    index.close()
    return folder


@pytest.fixture(scope="module")
def oracle() -> MemoryIndex:
    index = MemoryIndex()
    fill(index)
    return index


def test_a_sound_index_has_no_faults(sound: Path) -> None:
    index = LocalIndex(sound)
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["fast", "fieldnorm", "idx", "pos", "store", "term", "meta.json", ".managed.json"])
def test_a_damaged_keyword_file_costs_nothing(
    sound: Path, oracle: MemoryIndex, tmp_path: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(sound, folder)
    for path in folder.glob(f"keyword-*/*{kind}"):
        damage(path)
    index = LocalIndex(folder)
    assert_same_content(index.snapshot(), oracle.snapshot())
    _same_keyword(index.snapshot(), oracle.snapshot())
    index.apply(ChangeSet(put=(record("new.md", "something new"),)))
    found = index.snapshot().keyword(terms("something new"), ALL, 3)
    assert index.snapshot().chunks(found.chunks.tolist())[0].card == "new.md"
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_catalog_is_set_aside_and_filled_anew(
    sound: Path, oracle: MemoryIndex, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(sound, folder)
    damage(folder / "catalog.sqlite")
    index = LocalIndex(folder)
    _use(index)
    if list(index.snapshot().cards):
        # It hit nothing that is ever read but by a check.
        assert_same_content(index.snapshot(), oracle.snapshot())
        return
    if damage is not delete:
        assert "damaged" in index.snapshot().stats.notes[-1]
        assert (folder / "damaged" / "1" / "catalog.sqlite").exists()
    fill(index)
    assert_same_content(index.snapshot(), oracle.snapshot())
    _same_keyword(index.snapshot(), oracle.snapshot())
    assert index.verify() == []
    index.close()


@pytest.fixture
def without_keyword(sound: Path, tmp_path: Path) -> Iterator[LocalIndex]:
    """An index whose keyword part is damaged."""
    folder = tmp_path / "index"
    shutil.copytree(sound, folder)
    for path in folder.glob("keyword-*/*.term"):
        garbage(path)
    index = LocalIndex(folder)
    yield index
    index.close()


def test_without_its_keyword_part_an_index_answers_exactly_and_says_so(
    without_keyword: LocalIndex, oracle: MemoryIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_SCANNED_CHUNKS", 30)
    snapshot, other = without_keyword.snapshot(), oracle.snapshot()
    assert "damaged" in snapshot.stats.fault
    some = Filter(paths=("1.md", "3.md", "4.md"))
    for query in ("payment service", "text 3", "1 payment", "absent"):
        for filter, limit in itertools.product((ALL, some), (1, 7, 1000)):
            mine, theirs = (each.keyword(terms(query), filter, limit) for each in (snapshot, other))
            np.testing.assert_array_equal(mine.chunks, theirs.chunks)
            np.testing.assert_array_equal(mine.scores, theirs.scores)
    assert not list(without_keyword.snapshot().keyword(terms("payment"), ALL, 0).chunks)


def test_a_damaged_keyword_part_is_made_anew_by_a_repair_and_by_no_snapshot(without_keyword: LocalIndex) -> None:
    told: list[tuple[int, int]] = []
    for _ in range(3):
        assert without_keyword.snapshot().stats.fault
        assert without_keyword.snapshot().stats.notes == ()
    without_keyword.repair(lambda done, total: told.append((done, total)))
    stats = without_keyword.snapshot().stats
    assert (stats.fault, len(stats.notes)) == ("", 1)
    assert told == [(0, stats.chunks)]
    without_keyword.repair(lambda done, total: told.append((done, total)))
    assert len(told) == 1


def test_a_damaged_keyword_part_that_cannot_be_moved_is_an_index_fault(
    without_keyword: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(damage, "set_aside", full)
        with pytest.raises(IndexFault, match="No space left"):
            without_keyword.repair(lambda done, total: None)
    repaired(without_keyword)
    assert without_keyword.snapshot().stats.fault == ""
    assert len(without_keyword.snapshot().keyword(terms("payment"), ALL, 10).chunks) == 10


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError, RuntimeError, OSError])
def test_a_repair_that_is_broken_off_leaves_all_as_it_was(
    without_keyword: LocalIndex, tmp_path: Path, kind: type[BaseException]
) -> None:
    before = sorted(path.name for path in (tmp_path / "index").iterdir())

    def stop(*_: int) -> None:
        raise kind("stop")

    with pytest.raises(kind, match="stop"):
        without_keyword.repair(stop)
    assert without_keyword.snapshot().stats.fault
    assert {*before, "catalog.sqlite-shm", "catalog.sqlite-wal"} >= {p.name for p in (tmp_path / "index").iterdir()}
    assert repaired(without_keyword).verify() == []


def test_what_another_process_made_anew_is_used_by_this_one(without_keyword: LocalIndex, tmp_path: Path) -> None:
    assert without_keyword.snapshot().stats.fault
    other = LocalIndex(tmp_path / "index")
    assert repaired(other).snapshot().stats.fault == ""
    other.close()
    assert without_keyword.snapshot().stats.fault == ""
    assert without_keyword.verify() == []


def test_an_index_of_another_vault_in_its_place_is_noticed(sound: Path, oracle: MemoryIndex, tmp_path: Path) -> None:
    other = LocalIndex(tmp_path / "other")
    fill(other)
    other.apply(ChangeSet(remove=("1.md",)))
    other.close()
    shutil.copytree(sound, tmp_path / "index")
    for path in (tmp_path / "index").glob("keyword-*"):
        shutil.rmtree(path)
        shutil.copytree(next((tmp_path / "other").glob("keyword-*")), path)
    index = LocalIndex(tmp_path / "index")
    assert_same_content(index.snapshot(), oracle.snapshot())
    _same_keyword(index.snapshot(), oracle.snapshot())
    assert repaired(index).verify() == []
    index.close()


def test_an_older_copy_of_the_catalog_wins_over_the_keyword_part(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "index")
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("new.md", "something new"),), remove=("1.md",)))
    index.close()
    shutil.copy(sound / "catalog.sqlite", tmp_path / "index" / "catalog.sqlite")
    index = LocalIndex(tmp_path / "index")
    assert [card.id for card in index.snapshot().cards] == ["0.md", "1.md", "2.md", "3.md", "4.md"]
    assert "damaged" in repaired(index).snapshot().stats.notes[-1]
    assert index.verify() == []
    index.close()


def test_a_catalog_that_is_replaced_while_open_is_followed(sound: Path, oracle: MemoryIndex, tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=(record("old.md", "old"),)))
    assert len(index.snapshot().cards) == 1
    shutil.rmtree(tmp_path / "index")
    shutil.copytree(sound, tmp_path / "index")
    assert_same_content(index.snapshot(), oracle.snapshot())
    index.close()


def test_a_folder_that_vanishes_while_open_is_made_anew(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    fill(index)
    shutil.rmtree(tmp_path / "index")
    assert list(index.snapshot().cards) == []
    fill(index)
    assert len(index.snapshot().cards) == 5
    assert index.verify() == []
    index.close()


def test_damage_under_an_open_snapshot_is_said_and_then_healed(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "index")
    index = LocalIndex(tmp_path / "index")
    snapshot = index.snapshot()
    _alter(tmp_path / "index", "UPDATE texts SET content = zeroblob(40)")
    with pytest.raises(SnapshotExpired, match="damaged"):
        index.snapshot().of_card("0.md")
    assert list(index.snapshot().cards) == []
    assert len(snapshot.cards) == 5
    index.close()


@pytest.mark.parametrize("damage", [zero, zero_middle, truncate, empty, garbage, text])
@pytest.mark.parametrize("kind", ["fast", "idx", "term", "store"])
def test_keyword_files_that_are_overwritten_in_use_are_made_anew(
    sound: Path, oracle: MemoryIndex, tmp_path: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(sound, tmp_path / "index")
    index = LocalIndex(tmp_path / "index")
    _same_keyword(index.snapshot(), oracle.snapshot())
    for path in (tmp_path / "index").glob(f"keyword-*/*.{kind}"):
        damage(path)
    with pytest.raises(SnapshotExpired, match=f"{kind} was overwritten"):
        index.snapshot().keyword(terms("payment service"), ALL, 20)
    assert "damaged" in index.snapshot().stats.fault
    _same_keyword(index.snapshot(), oracle.snapshot())
    assert "damaged" in repaired(index).snapshot().stats.notes[-1]
    assert index.snapshot().stats.fault == ""
    _same_keyword(index.snapshot(), oracle.snapshot())
    assert index.verify() == []
    index.close()


ALTERED = [
    "UPDATE cards SET hash = 'x' WHERE version = (SELECT max(version) FROM cards)",
    "UPDATE cards SET card = replace(card, '2024', '2025') WHERE id = '3.md'",
    "UPDATE cards SET size = size + 1 WHERE id = '3.md'",
    "UPDATE cards SET id = '33.md' WHERE id = '3.md'",
    "DELETE FROM cards WHERE id = '3.md'",
    "UPDATE texts SET content = x'00' WHERE chunk = (SELECT max(chunk) FROM texts)",
    "DELETE FROM texts WHERE chunk = (SELECT max(chunk) FROM texts)",
    "UPDATE layers SET checksum = checksum + 1 WHERE version = (SELECT max(version) FROM layers)",
    "DELETE FROM layers WHERE version = (SELECT max(version) FROM layers)",
    "UPDATE forward SET content = substr(content, 1, 20) WHERE version = (SELECT max(version) FROM forward)",
    "DELETE FROM forward WHERE version = (SELECT max(version) FROM forward)",
    "UPDATE words SET form = 'pavment' WHERE form = 'payment'",
    "DELETE FROM words WHERE form = 'payment'",
    "UPDATE counters SET content = zeroblob(length(content))",
    "UPDATE words SET key = key + 1 WHERE form = 'payment'",
    "UPDATE members SET words = x'01000000' WHERE id = (SELECT min(id) FROM members)",
    "UPDATE members SET id = 1000000 WHERE id = (SELECT min(id) FROM members)",
    "UPDATE members SET id = id + 1 WHERE id = (SELECT min(id) FROM members)",
    "DELETE FROM members WHERE id = (SELECT max(id) FROM members)",
    "UPDATE vectors SET content = zeroblob(length(content)) WHERE id = (SELECT max(id) FROM vectors)",
    "UPDATE vectors SET positions = x'ffffff00' WHERE id = (SELECT max(id) FROM vectors)",
]


@pytest.mark.parametrize("statement", ALTERED)
def test_verify_finds_a_single_altered_row(sound: Path, tmp_path: Path, statement: str) -> None:
    shutil.copytree(sound, tmp_path / "index")
    _alter(tmp_path / "index", statement)
    index = LocalIndex(tmp_path / "index")
    faults = index.verify()
    # Or it was so plain that opening found it.
    assert faults or index.snapshot().stats.notes
    index.close()


@pytest.mark.parametrize("is_resting", [False, True])
def test_verify_finds_a_keyword_file_that_rotted_in_use_also_while_the_index_is_put_to_rest(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_resting: bool
) -> None:
    shutil.copytree(sound, tmp_path / "index")
    index = LocalIndex(tmp_path / "index")
    usual = LocalSnapshot.verify

    def verify(snapshot: LocalSnapshot) -> list[str]:
        if is_resting:
            assert index.rest()
        return usual(snapshot)

    monkeypatch.setattr(LocalSnapshot, "verify", verify)
    assert index.verify() == []
    index.snapshot()
    file = next((tmp_path / "index").glob("keyword*/*.store"))
    before, data = file.stat(), bytearray(file.read_bytes())
    data[0] ^= 255
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [file.name in fault for fault in index.verify()] == [True]
    index.close()


@pytest.mark.parametrize("statement", ALTERED)
def test_a_sync_that_verifies_makes_an_altered_index_anew(tmp_path: Path, statement: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(6):
        (vault / f"{number}.md").write_text(f"# Card {number}, 2024\n\ntext {number} payment service\n")
    config = Config(index_dir=tmp_path / "indexes", cache_dir=tmp_path / "cache")
    with Vault(vault, config, embedder=HashingEmbedder(32)) as opened:
        opened.sync()
        folder = Path(opened.status().index)
    index = LocalIndex(folder)
    expected = content(index, HashingEmbedder(32))
    index.close()
    _alter(folder, statement)
    shutil.copytree(folder, tmp_path / "copy")
    index = LocalIndex(tmp_path / "copy")
    faults = index.verify()
    index.close()
    with Vault(vault, config, embedder=HashingEmbedder(32)) as opened:
        assert opened.sync(verify=True).pending_vectors == 0
        assert opened.status().notes or not faults
        assert opened.search("payment service", k=6).status is Status.OK
    index = LocalIndex(folder)
    assert index.verify() == []
    assert content(index, HashingEmbedder(32)) == expected
    index.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_all_files_damaged_at_once_are_made_anew(
    sound: Path, oracle: MemoryIndex, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(sound, folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock"):
        damage(path)
    index = LocalIndex(folder)
    _use(index)
    if not list(index.snapshot().cards):
        fill(index)
    assert_same_content(index.snapshot(), oracle.snapshot())
    _same_keyword(index.snapshot(), oracle.snapshot())
    index.close()


def test_files_that_changed_places_are_noticed(sound: Path, oracle: MemoryIndex, tmp_path: Path) -> None:
    files = sorted(path.relative_to(sound) for path in sound.rglob("*") if path.is_file() and path.stat().st_size)
    for number, (one, two) in enumerate(itertools.combinations(files, 2)):
        folder = tmp_path / str(number)
        shutil.copytree(sound, folder)
        shutil.copy(sound / one, folder / two)
        shutil.copy(sound / two, folder / one)
        index = LocalIndex(folder)
        _use(index)
        if not list(index.snapshot().cards):
            fill(index)
        assert_same_content(index.snapshot(), oracle.snapshot())
        _same_keyword(index.snapshot(), oracle.snapshot())
        assert repaired(index).verify() == []
        index.close()


def test_only_the_newest_damaged_files_are_kept(tmp_path: Path) -> None:
    for _ in range(5):
        index = LocalIndex(tmp_path / "index")
        index.apply(ChangeSet(put=CARDS[:1]))
        index.close()
        text(tmp_path / "index" / "catalog.sqlite")
    assert len(list((tmp_path / "index" / "damaged").iterdir())) <= 3


def test_a_full_disk_is_an_error_and_the_next_change_heals_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = LocalIndex(tmp_path / "index")
    fill(index)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("cogvault.indexes.local.writer.write_state", full)
        with pytest.raises(IndexFault, match="full"):
            index.apply(ChangeSet(remove=("0.md",)))
    assert len(index.snapshot().cards) == 5
    with monkeypatch.context() as patch:
        patch.setattr("cogvault.indexes.local.lexical._mark", _full_disk)
        with pytest.raises(IndexFault, match="full"):
            index.apply(ChangeSet(remove=("0.md",)))
    assert len(index.snapshot().cards) == 4
    assert index.verify() == []
    index.close()


def _full_disk(*_: object) -> None:
    raise OSError(28, "No space left on device: disk full")


def _use(index: LocalIndex) -> None:
    """Ask for everything; damage may come to light, and is healed by the next snapshot."""
    for _ in range(3):
        try:
            snapshot = index.snapshot()
            for card in snapshot.cards:
                snapshot.of_card(card.id)
                snapshot.layers([card.id])
            found = snapshot.keyword(terms("text payment"), ALL, 50)
            snapshot.semantic(vector_of("text"), ALL, 5)
            snapshot.evidence(found.chunks, terms("text payment"), vector_of("text"), 1)
        except SnapshotExpired:
            continue
        return
    raise AssertionError("still damaged")


def _same_keyword(one: Snapshot, two: Snapshot) -> None:
    for query in ("payment service", "text 3", "absent"):
        mine, other = (each.keyword(terms(query), ALL, 20) for each in (one, two))
        np.testing.assert_array_equal(mine.chunks, other.chunks)
        np.testing.assert_array_equal(mine.scores, other.scores)
    assert_same_evidence(one, two, "payment 3", 2)


def _alter(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "catalog.sqlite")
    with connection:
        connection.execute(statement)
    connection.close()
