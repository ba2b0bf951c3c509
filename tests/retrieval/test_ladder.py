from __future__ import annotations

from collections.abc import Set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.retrieval.ladder import (
    Selection,
    climb,
    confidence,
    covers_query,
    in_user_scope,
    keyword_thresholds,
    select,
)
from cogvault.text.queries import query_terms
from cogvault.types import TermKind
from tests.retrieval.values import card, evidence, layer

RUNGS = (0.45, 0.35, 0.28)


def go(
    *scores: float,
    k: int = 2,
    user: Set[int] = frozenset(),
    covered: Set[int] = frozenset(),
    pool: int = 0,
) -> Selection:
    return climb(
        np.array(scores, np.float32),
        k,
        RUNGS,
        lambda near: np.array([place in user for place in near.tolist()], np.bool_),
        lambda: np.array([place in covered for place in range(len(scores))], np.bool_),
        pool=pool,
    )


def told(selection: Selection) -> tuple[list[int], str]:
    return selection.places.tolist(), selection.rung


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.9, 0.5, 0.4), ([0, 1], "0.45")),
        ((0.9, 0.4, 0.3), ([0, 1], "0.35")),
        ((0.9, 0.3, 0.2), ([0, 1], "0.28")),
        ((0.4, 0.1), ([0], "0.35")),
        ((0.9, 0.1), ([0], "0.45")),
        ((0.2, 0.1), ([], "none")),
        ((), ([], "none")),
    ],
)
def test_the_rung_is_the_last_that_added_a_hit(scores: tuple[float, ...], expected: tuple[list[int], str]) -> None:
    assert told(go(*scores)) == expected


def test_cards_about_the_user_may_be_weaker_and_fill_the_answer_up() -> None:
    assert told(go(0.25, 0.24, user={1})) == ([1], "user scope")
    assert told(go(0.9, 0.25, 0.24, 0.23, k=3, user={2, 3})) == ([0, 2, 3], "user scope")
    assert told(go(0.9, 0.25, 0.1, k=3, user={2})) == ([0], "0.45")


@pytest.mark.parametrize(
    ("scores", "thresholds"),
    [
        ((), (0.45, 0.35, 0.28, 0.182)),
        ((0.9,) * 9, (0.45, 0.35, 0.28, 0.182)),
        ((0.9,) * 9 + (0.02,), (0.45, 0.35, 0.28, 0.206)),
        ((0.9,) * 9 + (0.1,), (0.45, 0.35, 0.302)),
        ((0.9,) * 10, (0.45,)),
        ((0.9,) * 9 + (0.1, 0.0, 0.0), (0.45, 0.35, 0.302)),
    ],
)
def test_keywords_alone_must_say_more_the_more_the_tenth_card_says(
    scores: tuple[float, ...], thresholds: tuple[float, ...]
) -> None:
    assert keyword_thresholds(RUNGS, np.array(scores, np.float32)) == pytest.approx(thresholds)


def test_cards_that_hold_every_word_are_the_last_resort() -> None:
    assert told(go(0.1, 0.05, covered={1})) == ([1], "keyword scan")
    assert told(go(0.9, 0.25, 0.22, 0.05, k=3, user={2}, covered={0, 1, 3})) == ([0, 1, 2], "keyword scan")


def test_what_is_below_every_threshold_is_not_asked_for_when_there_is_enough() -> None:
    assert told(go(0.9, 0.3, 0.25, user={2}, covered={2})) == ([0, 1], "0.28")
    six = (0.9, 0.3, 0.3, 0.3, 0.3, 0.25)
    assert told(go(*six, k=1000, user={5}, covered={5})) == ([0, 1, 2, 3, 4], "0.28")


def test_a_pool_is_filled_from_the_rung_that_answers_and_lowers_none() -> None:
    assert told(go(0.9, 0.8, 0.7, 0.5, 0.4, k=2, pool=10)) == ([0, 1, 2, 3], "0.45")
    assert told(go(0.9, 0.4, 0.36, 0.3, k=2, pool=3)) == ([0, 1, 2], "0.35")


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans(), st.booleans()), max_size=12).map(
        lambda rows: sorted(rows, key=lambda row: -row[0])
    ),
    st.integers(1, 6),
)
def test_each_rung_only_adds(rows: list[tuple[float, bool, bool]], k: int) -> None:
    scores = [row[0] for row in rows]
    user = {place for place, row in enumerate(rows) if row[1]}
    covered = {place for place, row in enumerate(rows) if row[2]}
    chosen: list[int] = []
    for floor in RUNGS:
        chosen = [place for place, value in enumerate(scores) if np.float32(value) >= floor][:k]
        if len(chosen) == k:
            break
    for more in ((), user), (covered, user):
        found = go(*scores, k=k, covered=set(more[0]), user=set(more[1])).places.tolist()
        assert set(chosen) <= set(found)
        assert found == sorted(found)
        assert len(found) <= k
        chosen = found


def test_an_explicit_floor_leaves_out_what_is_below_it() -> None:
    scores = np.array([0.9, 0.5, 0.49], np.float32)
    assert told(select(scores, 5, 0.5)) == ([0, 1], "min_score")
    assert told(select(scores, 1, 0.5)) == ([0], "min_score")
    assert told(select(scores, 5, 0.95)) == ([], "none")


def test_without_a_threshold_the_answer_says_so() -> None:
    scores = np.array([0.9, 0.1], np.float32)
    assert told(select(scores, 5, None)) == ([0, 1], "no threshold")


@pytest.mark.parametrize(
    ("score", "name"), [(1.0, "high"), (0.45, "high"), (0.44, "medium"), (0.3, "low"), (0.1, "weak")]
)
def test_confidence_names_the_rung_that_a_score_reaches(score: float, name: str) -> None:
    assert confidence(score, RUNGS) == name


def test_confidence_with_fewer_rungs() -> None:
    assert confidence(0.3, (0.5,)) == "weak"


@pytest.mark.parametrize(
    ("id", "type", "inside"),
    [
        ("user/ana/preferences/a.md", None, True),
        ("a.md", "user", True),
        ("users/a.md", None, False),
        ("notes/user/a.md", None, False),
        ("user.md", None, False),
    ],
)
def test_the_user_scope_is_a_folder_or_a_type(id: str, type: str | None, inside: bool) -> None:
    assert in_user_scope(card(id, type=type)) is inside


def test_a_card_covers_a_query_when_it_holds_the_stem_of_every_word() -> None:
    terms = query_terms("billing exports")
    every = [1.0] * len(terms)
    stems_only = [float(term.kind is TermKind.STEM) for term in terms]
    lacking = [*stems_only]
    lacking[next(i for i, term in enumerate(terms) if term.kind is TermKind.STEM)] = 0.0
    found = evidence(layer([every, stems_only, lacking], [5, 5, 5], 5, [0, 0, 0]))
    assert covers_query(found, terms).tolist() == [True, True, False]


def test_a_query_without_words_is_covered_by_nothing() -> None:
    assert covers_query(evidence(layer([[]], [5], 5, [0])), ()).tolist() == [False]
