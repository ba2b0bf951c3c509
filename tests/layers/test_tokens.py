from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.layers.tokens import clip, estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("привіт", 2), ("设备清单", 4), ("設備ok", 3), ("한국어", 3)],
)
def test_estimate_counts_four_characters_or_one_dense_character_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_estimates_of_parts_are_never_less_than_that_of_the_whole(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


@given(st.text(max_size=300), st.integers(min_value=0, max_value=60))
def test_clipped_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert estimate_tokens(clipped) <= limit
    assert clipped == text or text.startswith(clipped.removesuffix("…"))


def test_a_fitting_text_is_left_alone() -> None:
    assert clip("one two", 2) == "one two"


def test_a_cut_falls_between_words() -> None:
    assert clip("alpha beta gamma delta", 4) == "alpha beta…"


def test_a_word_without_end_is_cut_inside() -> None:
    assert clip("x" * 1000, 5) == "x" * 19 + "…"


def test_a_cut_keeps_combining_marks_with_their_letter() -> None:
    assert clip("xxe\u0301xxxx", 1) == "xx…"


def test_another_estimate_is_obeyed() -> None:
    assert clip("one two three four", 3, lambda text: len(text.split())) == "one two three…"
