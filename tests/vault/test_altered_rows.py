"""A row of the catalog with values of another kind, or without its neighbors, ends no search and is made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.embedders import HashingEmbedder
from cogvault.errors import SnapshotExpired
from cogvault.indexes import LocalIndex
from tests.vault.conftest import Shelf

_ALTERED = [
    "UPDATE state SET sequence = 0",
    "UPDATE state SET lexical = -1",
    "UPDATE state SET stamped = x'80'",
    "UPDATE state SET published = 'zz'",
    "UPDATE state SET next_chunk = 1",
    "UPDATE state SET next_word = 4611686018427387904",
    "UPDATE state SET identity = 7",
    "UPDATE cards SET chunks = 'zz' WHERE version = 1",
    "UPDATE cards SET shape = 7 WHERE version = 1",
    "UPDATE cards SET dead = 1 WHERE version = 1",
    "DELETE FROM cards WHERE version = 1",
    "UPDATE texts SET content = 1.5",
    "UPDATE forward SET content = 'zz'",
    "UPDATE counters SET page = 7",
    "UPDATE counters SET changed = -1",
    "UPDATE counters SET content = x''",
    "DELETE FROM counters",
    "UPDATE models SET dim = -1",
    "UPDATE vectors SET changed = -1",
    "UPDATE vectors SET positions = 7",
    "UPDATE vectors SET version = 1.5",
]


@pytest.mark.parametrize("statement", _ALTERED)
def test_an_altered_row_ends_no_search_and_is_made_anew(shelf: Shelf, statement: str) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}.md", f"# {name}\n\nThe wombat {name} digs.\n\nThe quokka smiles at {name}.\n")
    vault = shelf.open(embedder=HashingEmbedder(32))
    vault.sync()
    before, folder = answers(vault), Path(vault.status().index)
    vault.close()
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as database, database:
        database.execute("PRAGMA ignore_check_constraints = 1")
        assert database.execute(statement).rowcount
    vault = shelf.open(embedder=HashingEmbedder(32))
    answers(vault)
    answers(vault)
    vault.forget(vault.record("The dingo howls.\n").id, purge=True)
    vault.sync(verify=True)
    assert answers(vault) == before


def test_an_error_that_is_no_damage_leaves_the_index_as_it_is(shelf: Shelf) -> None:
    shelf.write("a.md", "The wombat digs.\n")
    shelf.vault.sync()
    index = LocalIndex(Path(shelf.vault.status().index))
    try:
        with pytest.raises(TypeError):
            index.snapshot().pending("model", "many")  # type: ignore[arg-type]
        with pytest.raises(SnapshotExpired):
            index.snapshot().chunks([4711])
        assert not index.snapshot().stats.notes
    finally:
        index.close()


def answers(vault: Vault) -> list[tuple[str, float, str]]:
    found = [hit for query in ("wombat digs", "quokka", "c") for hit in vault.search(query, k=9, min_score=0.0)]
    return [(hit.id, hit.score, hit.text) for hit in found]
