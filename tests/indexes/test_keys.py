"""Keys of words: what is remembered of them changes none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexes.local import LocalIndex, keys
from cogvault.indexes.local.keys import KeptKeys, Keys
from cogvault.testing.records import identity, record
from cogvault.types import ChangeSet


@given(texts=st.lists(st.text(max_size=8), max_size=40))
def test_keys_do_not_depend_on_how_many_are_remembered(texts: list[str]) -> None:
    much, little = Keys("a catalog"), Keys("a catalog", 2)
    for text in texts:
        assert (much.word(text), much.stem(text), much.gram(text)) == (
            little.word(text),
            little.stem(text),
            little.gram(text),
        )
        assert much.members(text) == little.members(text)
    assert len({Keys("a catalog").word("tea"), Keys("a catalog").stem("tea"), Keys("another").word("tea")}) == 3


def test_keys_are_kept_for_one_catalog_until_they_are_forgotten() -> None:
    kept = KeptKeys()
    first = kept.of("a catalog")
    assert kept.of("a catalog") is first
    assert kept.of("another").word("tea") == Keys("another").word("tea") != first.word("tea")
    second = kept.of("a catalog")
    assert second is not first
    kept.forget()
    assert kept.of("a catalog") is not second


def test_commits_of_many_cards_in_a_row_share_keys_whatever_other_indexes_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def make(uuid: str) -> Keys:
        made.append(uuid)
        return Keys(uuid)

    monkeypatch.setattr(keys, "Keys", make)
    many, few = LocalIndex(tmp_path / "many"), LocalIndex(tmp_path / "few")

    def put(index: LocalIndex, first: int, count: int) -> int:
        """Catalogs whose keys were made anew."""
        made.clear()
        cards = tuple(record(f"{first + number}.md", f"text {number}") for number in range(count))
        index.apply(ChangeSet(put=cards, identity=identity()))
        return len(made)

    assert (put(many, 0, 100), put(few, 0, 1), put(many, 100, 100), put(few, 1, 1)) == (1, 1, 0, 1)
    assert (put(many, 200, 1), put(many, 201, 100)) == (0, 1), "a commit of few cards ends a row"
    many.rest()
    assert put(many, 301, 100) == 1
    many.close()
    few.close()
