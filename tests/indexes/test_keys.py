"""Keys of words: what is remembered of them changes none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexes.local.keys import Keys


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
