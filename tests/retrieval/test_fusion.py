from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.retrieval.fusion import reciprocal_rank
from cogvault.types import IntArray, Ranking


def ranking(*chunks: int) -> Ranking:
    return Ranking(np.array(chunks, np.int64), np.linspace(1, 0.5, len(chunks), dtype=np.float32))


def ids(*chunks: int) -> IntArray:
    return np.array(chunks, np.int64)


rankings = st.lists(st.permutations(range(1, 9)).flatmap(lambda p: st.integers(0, 8).map(lambda n: ranking(*p[:n]))))


def test_first_everywhere_is_1() -> None:
    assert reciprocal_rank([ranking(7, 3), ranking(7)], ids(3, 7))[1] == pytest.approx(1)


def test_found_by_both_beats_first_in_one() -> None:
    only, both, _ = reciprocal_rank([ranking(1, 2), ranking(3, 2)], ids(1, 2, 3))
    assert both > only


def test_a_candidate_that_no_ranker_found_is_0() -> None:
    assert reciprocal_rank([ranking(1)], ids(1, 2)).tolist() == [1, 0]
    assert reciprocal_rank([], ids(1)).tolist() == [0]


def test_equal_ranks_are_equal() -> None:
    one, other = reciprocal_rank([ranking(1, 2), ranking(2, 1)], ids(1, 2))
    assert one == other


@given(rankings, st.permutations(range(1, 9)), st.integers(1, 1000))
def test_scores_are_from_0_to_1_and_do_not_depend_on_the_order_of_candidates(
    given_rankings: list[Ranking], order: list[int], k: int
) -> None:
    fused = reciprocal_rank(given_rankings, ids(*order), k)
    assert np.all((fused >= 0) & (fused <= 1 + 1e-6))
    by_id = dict(zip(order, fused.tolist(), strict=True))
    again = reciprocal_rank(given_rankings, ids(*range(1, 9)), k)
    assert [by_id[chunk] for chunk in range(1, 9)] == again.tolist()


@given(st.permutations(range(1, 9)))
def test_one_ranking_keeps_its_order(order: list[int]) -> None:
    fused = reciprocal_rank([ranking(*order)], ids(*order))
    assert np.all(np.diff(fused) < 0)
