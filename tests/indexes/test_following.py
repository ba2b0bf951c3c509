"""What is followed from one view to the next is what would be made from nothing; views held by readers never change."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogvault.indexes.difference import difference
from cogvault.indexes.local import cards, codec, schema, writer
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.coverage import Coverage
from cogvault.indexes.local.keys import KeptKeys
from cogvault.indexes.local.roster import Roster
from cogvault.indexes.local.vectors import Matrix
from cogvault.indexes.local.view import VectorView
from cogvault.testing.records import MODEL, identity, record, stamp, vector_of
from cogvault.types import CardInfo, ChangeSet, Filter, IntArray, VectorBatch

_IDS = [f"{letter}.md" for letter in "abcdefgh"]
_FILTER = Filter(types=frozenset({"project"}))
_WINDOW = 2


@dataclass(frozen=True)
class Change:
    """One commit, and what happens until the next view."""

    put: dict[str, int]
    remove: list[str]
    restamp: dict[str, int]
    embed: int
    purges: bool
    views: bool


_changes = st.builds(
    Change,
    put=st.dictionaries(st.sampled_from(_IDS), st.integers(0, 5), max_size=4),
    remove=st.lists(st.sampled_from(_IDS), max_size=2),
    restamp=st.dictionaries(st.sampled_from(_IDS), st.integers(1, 99), max_size=3),
    embed=st.integers(0, 6),
    purges=st.booleans(),
    views=st.booleans(),
)


@dataclass
class Reader:
    """What a process keeps from one view to the next."""

    roster: Roster = field(default_factory=Roster)
    matrix: Matrix | None = None
    vectors: VectorView | None = None
    coverage: Coverage | None = None

    def look(self, connection: sqlite3.Connection, sequence: int) -> CardTable:
        state = schema.read_state(connection)
        table = self.roster.table(connection, sequence, state.stamped)
        self.coverage = Coverage.of(connection, MODEL, table, self.coverage)
        row = connection.execute("SELECT id, dim FROM models").fetchone()
        if row is not None:
            self.matrix = self.matrix or Matrix(*row)
            self.matrix.refresh(connection)
            self.vectors = VectorView(self.matrix, table, self.vectors) if self.matrix.size else None
        return table


def _commit(connection: sqlite3.Connection, change: Change) -> None:
    put = tuple(
        record(id, *(f"text {n} of {id}" for n in range(chunks)), day=chunks, type="project" if chunks % 2 else "note")
        for id, chunks in change.put.items()
    )
    stamps = {id: stamp(number) for id, number in change.restamp.items() if id not in change.put}
    remove = tuple(id for id in change.remove if id not in change.put)
    writer.commit(connection, ChangeSet(put=put, remove=remove, restamp=stamps), writer.analyzed(put), KeptKeys())
    rows = connection.execute("SELECT version, chunks FROM cards WHERE dead = ?", (schema.NEVER,)).fetchall()
    chunks = [version + position for version, count in rows for position in range(count)][:: 1 + change.embed % 3]
    if change.embed:
        batch = np.array([vector_of(f"chunk {chunk}") for chunk in chunks[: change.embed]]).reshape(-1, 8)
        if len(batch):
            vectors = VectorBatch(MODEL, np.array(chunks[: change.embed], np.int64), batch)
            writer.commit(connection, ChangeSet(vectors=vectors), [], KeptKeys())


def _said(table: CardTable) -> list[object]:
    """Everything that a table says."""
    arrays = (
        table.versions,
        table.places,
        table.counts,
        table.starts,
        table.first_rows,
        table.words_before,
        table.embeddable,
        table.dated,
    )
    places = [table.place_of(id) for id in _IDS]
    return [[row.id for row in table.rows], list(table.cards), places, table.mean_window(_WINDOW), *map(_plain, arrays)]


def _plain(values: np.ndarray) -> tuple[str, list[object]]:
    return str(values.dtype), values.tolist()


def _vectors_said(view: VectorView) -> list[object]:
    """Everything that a view of vectors says, by chunk: the order of a matrix's rows is its own."""
    table = view.table
    rows = np.arange(table.chunks)
    slots = np.repeat(np.arange(len(table.starts)), table.counts)
    scan = view.scan(vector_of("asked"))
    own = np.flatnonzero(view.rankable)
    return [
        view.dots(scan, rows).tolist(),
        view.chunk_squares(rows).tolist(),
        view.card_squares(slots).tolist(),
        view.window_squares(rows, table.first_rows[slots], table.first_rows[slots + 1], _WINDOW).tolist(),
        sorted(zip(view.chunks(own).tolist(), view.places[own].tolist(), view.inverse_lengths[own], strict=True)),
    ]


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(_changes, min_size=1, max_size=8))
def test_a_view_that_follows_is_the_view_made_from_nothing(changes: list[Change]) -> None:
    kept, views = Reader(), list[tuple[CardTable, list[object]]]()
    lists: list[Sequence[CardInfo]] = []
    with tempfile.TemporaryDirectory() as folder:
        connection = schema.connect(Path(folder) / "catalog", "rwc")
        writer.commit(connection, ChangeSet(identity=identity()), [], KeptKeys())
        for change in changes:
            _commit(connection, change)
            if change.purges:
                writer.purge(connection, schema.read_state(connection).lexical, KeptKeys())
            state = schema.read_state(connection)
            if not change.views:
                continue
            # Until the purge a view may be at any earlier change of cards, as one is while a writer is at work.
            sequences = {state.lexical, state.published} if state.published else {state.lexical}
            for sequence in sorted(sequences):
                fresh = Reader()
                table, expected = kept.look(connection, sequence), fresh.look(connection, sequence)
                views.append((table, _said(table)))
                assert views[-1][1] == _said(expected)
                assert kept.coverage is not None
                assert fresh.coverage is not None
                assert kept.coverage.held.tolist() == fresh.coverage.held.tolist()
                if kept.vectors is not None and fresh.vectors is not None:
                    assert _vectors_said(kept.vectors) == _vectors_said(fresh.vectors)
                    assert int((kept.vectors.places >= 0).sum()) == int(kept.coverage.held.sum())
                lists.append(table.cards)
        connection.close()
    assert [_said(table) for table, _ in views] == [said for _, said in views]
    for before in lists:
        for now in lists:
            changed = difference(before, now)
            gone, come = {id(card) for card in changed.gone}, {id(card) for card in changed.come}
            assert (len(gone), len(come)) == (len(changed.gone), len(changed.come))
            assert gone == {id(card) for card in before} - {id(card) for card in now}
            assert come == {id(card) for card in now} - {id(card) for card in before}


@pytest.fixture
def table(tmp_path: Path) -> Iterator[CardTable]:
    """Of three cards."""
    connection = schema.connect(tmp_path / "catalog", "rwc")
    writer.commit(connection, ChangeSet(identity=identity()), [], KeptKeys())
    _commit(connection, Change(dict.fromkeys(_IDS[:3], 2), [], {}, 0, purges=False, views=True))
    yield Reader().look(connection, schema.read_state(connection).lexical)
    connection.close()


def test_two_threads_that_first_look_at_a_card_get_the_same_object(
    table: CardTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = table.rows[0]
    real, second_decodes = codec.decode_card, threading.Event()
    seen: list[CardInfo] = []
    other = threading.Thread(target=lambda: seen.append(row.info))

    def decode(text: str, **fields: Any) -> CardInfo:
        if other.ident is None:
            other.start()
            second_decodes.wait(0.2)  # it does not, unless there may be two
        else:
            second_decodes.set()
        return real(text, **fields)

    monkeypatch.setattr(codec, "decode_card", decode)
    seen.append(row.info)
    other.join()
    assert seen[0] is seen[1] is row.info


def test_a_table_can_be_followed_while_a_search_asks_for_another_window(
    table: CardTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.mean_window(1)
    real = cards.windows

    def busy(first_rows: IntArray, chunk_rows: IntArray, window: int) -> tuple[IntArray, IntArray]:
        if window == 1:
            table.mean_window(2)
        return real(first_rows, chunk_rows, window)

    with monkeypatch.context() as patch:
        patch.setattr(cards, "windows", busy)
        after = table.changed(table.rows[:1], [])
    for window in (1, 2):
        assert after.mean_window(window) == CardTable.of(table.rows[1:]).mean_window(window)
