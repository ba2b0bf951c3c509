"""New cards that wait for others before they are put into the keyword folder are found as if they were in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cogvault.indexes import LocalIndex, MemoryIndex
from cogvault.indexes.local import store, writer
from cogvault.indexes.local import waiting as waiting_part
from cogvault.indexes.local.keys import KeptKeys
from cogvault.indexes.local.lexical import Lexical
from cogvault.protocols import Index
from cogvault.testing.records import ALL, found_cards, identity, record, terms
from cogvault.testing.stateful import IndexMachine, assert_same_content, assert_same_evidence
from cogvault.types import CardRecord, ChangeSet, Filter

_OLD = tuple(
    record(f"old/{number}.md", f"payment number {number} of the service", "shared text") for number in range(50)
)


class Killed(BaseException):
    """Stands for the end of the process: nothing of the library catches it."""


@pytest.fixture(params=[12, 128])
def waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cards wait in small indexes too, until there are so many chunks of them."""
    monkeypatch.setattr(waiting_part, "_MOST_CHUNKS", request.param)
    monkeypatch.setattr(waiting_part, "_MOST_SHARE", 1000)
    return int(request.param)


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sequence numbers that were written into a keyword folder."""
    seen: list[int] = []
    write = Lexical.write

    def told(self: Lexical, dead: list[int], documents: object, sequence: int, threads: int) -> None:
        seen.append(sequence)
        write(self, dead, documents, sequence, threads)  # type: ignore[arg-type]

    monkeypatch.setattr(Lexical, "write", told)
    return seen


def _filled(folder: Path) -> tuple[LocalIndex, MemoryIndex]:
    """An index with cards in its keyword folder, and the oracle."""
    both = LocalIndex(folder), MemoryIndex()
    for index in both:
        index.apply(ChangeSet(put=_OLD, identity=identity()))
    assert not both[0].snapshot().is_waiting
    return both


def _new(number: int, text: str = "") -> CardRecord:
    return record(f"new/{number}.md", text or f"payment of invoice {number}", "shared text", day=number % 5)


def _both(one: Index, two: Index, change: ChangeSet) -> None:
    assert one.apply(change) == two.apply(change)


def _assert_same(one: Index, two: Index) -> None:
    mine, other = one.snapshot(), two.snapshot()
    assert_same_content(mine, other)
    for query in ("payment shared", "invoice 3", "service", "nothing of it"):
        assert_same_evidence(mine, other, query, 1)
        for filter in (ALL, Filter(paths=("new",)), Filter(without=frozenset({"new/1.md", "old/3.md"}))):
            for limit in (3, 40):
                found, wanted = (each.keyword(terms(query), filter, limit) for each in (mine, other))
                assert found_cards(mine, found) == found_cards(other, wanted)
                assert found.scores.tolist() == wanted.scores.tolist()


class WaitingEqualsMemory(IndexMachine):
    """The state machine, with cards that wait in it."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(waiting_part, "_MOST_SHARE", 1000)

    def make_index(self, folder: Path) -> Index:
        return LocalIndex(folder)

    def teardown(self) -> None:
        super().teardown()
        self._patch.undo()


WaitingEqualsMemory.TestCase.settings = settings(
    max_examples=30, stateful_step_count=20, suppress_health_check=list(HealthCheck)
)
TestWaitingEqualsMemory = WaitingEqualsMemory.TestCase


def test_a_few_new_cards_share_one_commit_of_the_keyword_folder(tmp_path: Path, commits: list[int]) -> None:
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(put=tuple(_new(number) for number in range(1000)), identity=identity()))
    before = len(commits)
    for number in range(1000, 1020):
        index.apply(ChangeSet(put=(_new(number, f"zebrafinch {number}"),)))
        snapshot = index.snapshot()
        assert found_cards(snapshot, snapshot.keyword(terms(f"zebrafinch {number}"), ALL, 1)) == [f"new/{number}.md"]
    assert 1 <= len(commits) - before <= 3  # at 30 chunks, a hundredth of what is there
    assert index.verify() == []
    index.close()


def test_waiting_cards_are_found_and_scored_as_all_others(tmp_path: Path, waiting: int, commits: list[int]) -> None:
    index, oracle = _filled(tmp_path / "index")
    before = len(commits)
    for number in range(waiting // 3 - 1):
        _both(index, oracle, ChangeSet(put=(_new(number),)))
        _assert_same(index, oracle)
    assert commits[before:] == []
    assert index.snapshot().is_waiting
    index.close()
    again = LocalIndex(tmp_path / "index")
    _assert_same(again, oracle)
    assert commits[before:] == []
    again.close()


@pytest.mark.usefixtures("waiting")
def test_another_index_on_the_folder_finds_what_waits(tmp_path: Path, commits: list[int]) -> None:
    index, oracle = _filled(tmp_path / "index")
    other, idle = LocalIndex(tmp_path / "index"), LocalIndex(tmp_path / "index")
    idle.snapshot()
    for number in range(30):
        _both((index, other)[number % 2], oracle, ChangeSet(put=(_new(number),)))
        _assert_same(other, oracle)
        _assert_same(index, oracle)
    _assert_same(idle, oracle)
    assert len(commits) < 15
    for each in (index, other, idle):
        each.close()


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("gone", ["old/3.md", "new/1.md"])
def test_what_died_does_not_wait(tmp_path: Path, gone: str) -> None:
    index, oracle = _filled(tmp_path / "index")
    for number in range(3):
        _both(index, oracle, ChangeSet(put=(_new(number, f"Qxkcdvbn{number}"),)))
    _both(index, oracle, ChangeSet(remove=(gone,)))
    assert not index.snapshot().is_waiting
    _assert_same(index, oracle)
    index.close()
    texts = [path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file()]
    assert [b"qxkcdvbn1" in text.lower() for text in texts].count(True) == (gone != "new/1.md")


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("step", ["keyword commit", "purge"])
@pytest.mark.parametrize(
    "change",
    [
        ChangeSet(put=(_new(7),), remove=("old/3.md", "new/1.md")),
        ChangeSet(put=tuple(_new(number, "much at once") for number in range(100, 180)), remove=("old/4.md",)),
    ],
    ids=["few", "many"],
)
def test_a_killed_writer_takes_nothing_from_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, change: ChangeSet
) -> None:
    index, oracle = _filled(tmp_path / "index")
    for number in range(3):
        _both(index, oracle, ChangeSet(put=(_new(number),)))
    held = LocalIndex(tmp_path / "index")
    held.snapshot()
    write, purge = Lexical.write, writer.purge

    # What waited before comes first, and has no dead in it.
    def die_writing(self: Lexical, dead: list[int], *rest: object) -> None:
        if dead:
            raise Killed
        write(self, dead, *rest)  # type: ignore[arg-type]

    def die_purging(connection: sqlite3.Connection, reached: int, keys: KeptKeys) -> bool:
        if connection.execute("SELECT 1 FROM cards WHERE dead <= ?", (reached,)).fetchone():
            raise Killed
        return purge(connection, reached, keys)

    with monkeypatch.context() as patch:
        patch.setattr(*((writer, "purge", die_purging) if step == "purge" else (Lexical, "write", die_writing)))
        with pytest.raises(Killed):
            index.apply(change)
    index.close()
    oracle.apply(change)
    for reader in (held, LocalIndex(tmp_path / "index")):
        _assert_same(reader, oracle)
        _both(reader, oracle, ChangeSet(put=(_new(8),)))
        _assert_same(reader, oracle)
        assert reader.verify() == []
        reader.close()


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize(
    "change",
    [
        ChangeSet(put=(_new(7),), remove=("old/3.md", "new/1.md")),
        ChangeSet(put=tuple(_new(number, "much at once") for number in range(100, 180)), remove=("old/4.md",)),
    ],
    ids=["few", "many"],
)
def test_a_card_that_was_found_is_found_while_a_writer_is_between_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: ChangeSet
) -> None:
    index, _ = _filled(tmp_path / "index")
    index.apply(ChangeSet(put=(_new(2, "zebrafinch"),)))
    other = LocalIndex(tmp_path / "index")
    seen: list[list[str]] = []

    def look(call: Callable[..., object]) -> Callable[..., object]:
        def looked(*args: object, **options: object) -> object:
            for reader in (other, LocalIndex(tmp_path / "index")):
                snapshot = reader.snapshot()
                seen.append(found_cards(snapshot, snapshot.keyword(terms("zebrafinch"), ALL, 1)))
                snapshot.keyword(terms("payment shared text"), ALL, 500)
            return call(*args, **options)

        return looked

    monkeypatch.setattr(Lexical, "write", look(Lexical.write))
    monkeypatch.setattr(writer, "purge", look(writer.purge))
    index.apply(change)
    assert seen
    assert all(found == ["new/2.md"] for found in seen)
    for each in (index, other):
        each.close()


@pytest.mark.usefixtures("waiting")
def test_a_reader_that_may_not_write_finds_what_waits(tmp_path: Path) -> None:
    index, oracle = _filled(tmp_path / "index")
    _both(index, oracle, ChangeSet(put=(_new(1),)))
    index.close()
    reader = LocalIndex(tmp_path / "index", read_only=True)
    _assert_same(reader, oracle)
    assert reader.snapshot().is_waiting
    assert reader.verify() == []
    reader.close()


@pytest.mark.usefixtures("waiting")
def test_a_check_puts_what_waits_into_the_keyword_folder_first(tmp_path: Path) -> None:
    index, oracle = _filled(tmp_path / "index")
    _both(index, oracle, ChangeSet(put=(_new(1),)))
    assert index.verify() == []
    assert not index.snapshot().is_waiting
    _assert_same(index, oracle)
    index.close()


@pytest.mark.usefixtures("waiting")
def test_a_damaged_keyword_folder_is_made_anew_with_what_waited(tmp_path: Path) -> None:
    index, oracle = _filled(tmp_path / "index")
    _both(index, oracle, ChangeSet(put=(_new(1),)))
    index.close()
    for path in (tmp_path / "index").glob("keyword-*/*.term"):
        path.write_bytes(b"damage")
    index = LocalIndex(tmp_path / "index")
    _assert_same(index, oracle)
    index.repair(lambda done, total: None)
    _assert_same(index, oracle)
    assert index.verify() == []
    index.close()


@pytest.mark.usefixtures("waiting")
def test_an_older_copy_of_the_catalog_is_followed_by_who_let_cards_wait(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index, oracle = _filled(folder)
    index.close()
    index, other = LocalIndex(folder), LocalIndex(folder)
    other.snapshot()
    old = (folder / store.CATALOG).read_bytes()
    _both(index, oracle, ChangeSet(put=(_new(1, "of the time that is lost"),)))
    index.apply(ChangeSet(remove=("old/1.md",)))
    index.close()
    for name in (f"{store.CATALOG}-wal", f"{store.CATALOG}-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / store.CATALOG).write_bytes(old)
    again = MemoryIndex()
    again.apply(ChangeSet(put=_OLD, identity=identity()))
    for number in range(2, 5):
        _both(other, again, ChangeSet(put=(_new(number),)))
        _assert_same(other, again)
    fresh = LocalIndex(folder)
    _assert_same(fresh, again)
    assert fresh.verify() == []
    for each in (other, fresh):
        each.close()
