from __future__ import annotations

from collections.abc import Set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.retrieval.ladder import Selection, climb, confidence, covers_query, in_user_scope, select
from cogvault.text.queries import query_terms
from cogvault.types import TermKind
from tests.retrieval.values import card, evidence, layer

RUNGS = (0.45, 0.35, 0.28)


def go(*scores: float, k: int = 2, user: Set[int] = frozenset(), covered: Set[int] = frozenset()) -> Selection:
    places = range(len(scores))
    return climb(
        np.array(scores, np.float32),
        k,
        RUNGS,
        lambda: np.array([place in user for place in places], np.bool_),
        lambda: np.array([place in covered for place in places], np.bool_),
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


def test_a_card_about_the_user_may_be_weaker_when_nothing_else_was_found() -> None:
    assert told(go(0.25, 0.24, user={1})) == ([1], "user scope")
    assert told(go(0.25, 0.1, user={1})) == ([], "none")


def test_a_card_that_holds_every_word_is_the_last_resort() -> None:
    assert told(go(0.1, 0.05, covered={1})) == ([1], "keyword scan")


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans(), st.booleans()), max_size=12).map(
        lambda rows: sorted(rows, key=lambda row: -row[0])
    ),
    st.integers(1, 6),
)
def test_each_rung_only_adds(rows: list[tuple[float, bool, bool]], k: int) -> None:
    scores = np.array([row[0] for row in rows], np.float32)
    user = np.array([row[1] for row in rows], np.bool_)
    covered = np.array([row[2] for row in rows], np.bool_)
    chosen: list[int] = []
    for count in range(1, len(RUNGS) + 1):
        found = climb(scores, k, RUNGS[:count], lambda: user, lambda: covered)
        more = found.places.tolist()
        if found.rung in {f"{rung:.2f}" for rung in RUNGS}:
            assert more[: len(chosen)] == chosen or not chosen
            chosen = more
    final = climb(scores, k, RUNGS, lambda: user, lambda: covered).places.tolist()
    assert len(final) <= k
    assert final == sorted(final)
    assert set(np.flatnonzero(scores >= 0.45)[:k].tolist()) <= set(final)


def test_an_explicit_floor_leaves_out_what_is_below_it() -> None:
    scores = np.array([0.9, 0.5, 0.49], np.float32)
    assert told(select(scores, 5, 0.5)) == ([0, 1], "min_score")
    assert told(select(scores, 1, 0.5)) == ([0], "min_score")
    assert told(select(scores, 5, 0.95)) == ([], "none")


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
