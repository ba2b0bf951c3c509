from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cogvault.layers.centrality import centrality, pick, terms, words


def sets(*texts: str) -> list[frozenset[str]]:
    return [frozenset(text.split()) for text in texts]


def test_words_are_folded_and_short_ones_left_out() -> None:
    assert words("We CHOSE Größe ok 16 x9") == ["chose", "grösse", "16"]


def test_words_of_dense_scripts_are_pairs_even_beside_letters() -> None:
    assert words("重跑gen清") == ["重跑", "gen", "清"]


def test_inflections_meet_in_a_term() -> None:
    assert terms(["database", "databases"]) == {"datab"}


def test_the_sentence_that_shares_most_is_most_central() -> None:
    scores = centrality(sets("queue postgres worker", "queue worker", "postgres worker", "lunch menu"))
    assert scores[0] == 1.0
    assert scores[3] == 0.0


def test_words_of_every_sentence_say_nothing() -> None:
    assert centrality(sets("the a", "the b", "the c")) == [0.0, 0.0, 0.0]


@given(st.lists(st.frozensets(st.sampled_from("abcdefghij")), max_size=12))
def test_scores_are_from_0_to_1_and_follow_their_sentences(sentences: list[frozenset[str]]) -> None:
    scores = centrality(sentences)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert centrality(sentences[::-1]) == scores[::-1]


def test_picking_keeps_reading_order_and_budget() -> None:
    assert pick([2, 0, 1], sets("a b", "c d", "e f"), lambda _: 10, 20) == [0, 2]


def test_picking_leaves_repetitions_out() -> None:
    assert pick([0, 1, 2], sets("a b c", "a b c", "d e f"), lambda _: 10, 30) == [0, 2]
