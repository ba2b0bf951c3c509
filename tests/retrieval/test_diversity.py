from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cogvault.retrieval.diversity import diversify
from cogvault.retrieval.present import word_overlap
from cogvault.types import FloatArray

shares = st.floats(0, 1, width=32)


@st.composite
def candidates(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    size = draw(st.integers(0, 8))
    scores = np.array(draw(st.lists(shares, min_size=size, max_size=size)), np.float32)
    cells = np.array(draw(st.lists(shares, min_size=size * size, max_size=size * size)), np.float32)
    likeness = cells.reshape(size, size)
    likeness = np.maximum(likeness, likeness.T)
    np.fill_diagonal(likeness, 1)
    return scores, likeness


@given(candidates(), st.integers(0, 10))
def test_lambda_1_is_the_order_of_relevance(found: tuple[FloatArray, FloatArray], limit: int) -> None:
    scores, likeness = found
    assert diversify(scores, likeness, 1, limit).tolist() == np.argsort(-scores, kind="stable")[:limit].tolist()


@given(candidates(), shares, st.integers(0, 10))
def test_each_is_chosen_once_and_the_best_first(
    found: tuple[FloatArray, FloatArray], lambda_: float, limit: int
) -> None:
    scores, likeness = found
    chosen = diversify(scores, likeness, lambda_, limit).tolist()
    assert len(set(chosen)) == len(chosen) == min(limit, len(scores))
    if chosen and lambda_ > 0:
        assert scores[chosen[0]] * np.float32(lambda_) == (scores * np.float32(lambda_)).max()


def test_a_repetition_waits_until_something_else_was_said() -> None:
    scores = np.array([0.9, 0.89, 0.6], np.float32)
    likeness = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], np.float32)
    assert diversify(scores, likeness, 0.5, 3).tolist() == [0, 2, 1]


def test_texts_are_alike_by_their_words() -> None:
    likeness = word_overlap(["one two", "TWO one", "three four", ""])
    assert likeness[0, 1] == 1
    assert likeness[0, 2] == 0
    assert likeness[3, 3] == 0
    assert np.array_equal(likeness, likeness.T)
