"""Words that are kept are those that are stored, whatever was read before, in parts and by many threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexes.local import codec, word_cache
from cogvault.indexes.local.word_cache import WordCache
from cogvault.types import IntArray

_WORD = st.one_of(st.integers(0, 9), st.integers(codec.LONG - 2, codec.LONG + 2), st.just(2**32 - 1))
_CARDS = st.dictionaries(st.integers(0, 40), st.lists(_WORD, max_size=12), min_size=1, max_size=8)


@contextmanager
def _stored(cards: Mapping[int, list[int]]) -> Iterator[sqlite3.Connection]:
    """A catalog that holds the words of some cards, by version."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        connection.execute("CREATE TABLE forward (version INTEGER PRIMARY KEY, content BLOB, checksum INTEGER)")
        rows = [(version, codec.encode_words(np.array(words, np.int64))) for version, words in cards.items()]
        connection.executemany(
            "INSERT INTO forward VALUES (?, ?, ?)",
            [(version, content, codec.checksum(content)) for version, content in rows],
        )
        yield connection


def _array(numbers: list[int]) -> IntArray:
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("capacity_bytes", [2**20, 0], ids=["kept", "never kept"])
@given(cards=_CARDS, data=st.data())
def test_words_are_those_that_are_stored(capacity_bytes: int, cards: dict[int, list[int]], data: st.DataObject) -> None:
    kept = WordCache()
    with _stored(cards) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_cache, "_CAPACITY_BYTES", capacity_bytes)
        for asked in data.draw(st.lists(st.lists(st.sampled_from(sorted(cards)), max_size=6), max_size=4)):
            assert kept.read(connection, _array(asked)).tolist() == [word for n in asked for word in cards[n]]
            first = [data.draw(st.integers(0, len(cards[n]))) for n in asked]
            end = [data.draw(st.integers(a, len(cards[n]))) for n, a in zip(asked, first, strict=True)]
            found = kept.read_parts(connection, _array(asked), _array(first), _array(end))
            assert found.tolist() == [word for n, a, b in zip(asked, first, end, strict=True) for word in cards[n][a:b]]


def test_a_vault_without_words_has_none() -> None:
    with _stored({1: [], 2: []}) as connection:
        assert WordCache().read(connection, _array([1, 2])).tolist() == []
        assert WordCache().read(connection, _array([])).tolist() == []


def test_threads_that_read_while_others_add_find_what_is_stored() -> None:
    cards = {n: [n, codec.LONG + n, *range(n % 7)] for n in range(600)}
    kept = WordCache()
    with _stored(cards) as connection:

        def read(start: int) -> bool:
            asked = [(start + step * 7) % 600 for step in range(40)]
            words: list[int] = kept.read(connection, _array(asked)).tolist()
            return words == [word for n in asked for word in cards[n]]

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(0, 600, 2)))


def test_what_was_broken_off_was_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = {1: [5, codec.LONG + 1], 2: [codec.LONG + 2, 6, codec.LONG + 3], 3: [7]}
    kept = WordCache()
    with _stored(cards) as connection:
        assert kept.read(connection, _array([3])).tolist() == [7]

        def stop(*args: object, **options: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(np, "insert", stop)
            with pytest.raises(KeyboardInterrupt):
                kept.read(connection, _array([1]))
        assert kept.read(connection, _array([2, 1, 3])).tolist() == [*cards[2], *cards[1], 7]


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_damage_is_told(damage: str) -> None:
    kept = WordCache()
    with _stored({1: [1, 2], 2: [3]}) as connection:
        connection.execute(
            "DELETE FROM forward WHERE version = 2" if damage == "missing" else "UPDATE forward SET checksum = 0"
        )
        with pytest.raises(sqlite3.DatabaseError, match="card version"):
            kept.read(connection, _array([1, 2]))


def test_a_part_that_a_card_does_not_have_is_damage() -> None:
    kept = WordCache()
    with _stored({1: [1, 2], 2: [3]}) as connection, pytest.raises(sqlite3.DatabaseError, match="fewer words"):
        kept.read_parts(connection, _array([1]), _array([1]), _array([3]))
