from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.retrieval.decay import decay_weights, validity, validity_weights
from cogvault.retrieval.succession import ALWAYS
from cogvault.types import CardInfo, FloatArray
from tests.retrieval.values import NOW, card


def weights(*cards: CardInfo, half_life_days: float | None = 30, floor: float = 0.2) -> FloatArray:
    return decay_weights(
        cards, now=NOW, half_life_days=half_life_days, floor=floor, evergreen=("feedback", "reference")
    )


def aged(days: float, **fields: Any) -> CardInfo:
    return card(dated=NOW - timedelta(days=days), **fields)


def test_a_card_of_one_half_life_weighs_half() -> None:
    assert weights(aged(30), aged(60), floor=0).tolist() == pytest.approx([0.5, 0.25])


@given(st.lists(st.floats(0, 20_000), min_size=2), st.floats(0.01, 10_000), st.floats(0, 1))
def test_older_never_weighs_more_and_nothing_falls_below_the_floor(
    ages: list[float], half_life_days: float, floor: float
) -> None:
    found = weights(*map(aged, sorted(ages)), half_life_days=half_life_days, floor=floor)
    assert np.all(np.diff(found) <= 0)
    assert np.all((found >= np.float32(floor)) & (found <= 1))


def test_without_a_half_life_age_does_not_matter() -> None:
    assert weights(aged(0), aged(10_000), half_life_days=None).tolist() == [1, 1]


@pytest.mark.parametrize("fields", [{"type": "feedback"}, {"type": "Reference"}, {"pinned": True}])
def test_evergreen_types_and_pinned_cards_do_not_age(fields: dict[str, Any]) -> None:
    assert weights(aged(10_000, **fields)).tolist() == [1]


@pytest.mark.parametrize("fields", [{}, {"type": "project"}, {"type": ""}])
def test_other_types_age(fields: dict[str, Any]) -> None:
    assert weights(aged(10_000, **fields)).tolist() == pytest.approx([0.2])


def test_a_future_date_weighs_1() -> None:
    assert weights(aged(-400)).tolist() == [1]


def test_the_same_instant_in_another_zone_weighs_the_same() -> None:
    far = timezone(timedelta(hours=14))
    instant = NOW - timedelta(days=10)
    one, other = weights(card(dated=instant), card(dated=instant.astimezone(far)))
    assert one == other


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, "current"),
        ({"valid_until": NOW + timedelta(days=1)}, "current"),
        ({"valid_until": NOW}, "expired"),
        ({"valid_until": NOW - timedelta(days=1)}, "expired"),
        ({"valid_from": NOW + timedelta(days=1)}, "future"),
        ({"valid_from": NOW}, "current"),
        ({"superseded_by": ("b.md",)}, "superseded"),
        ({"superseded_by": ("b.md",), "valid_until": NOW - timedelta(days=1)}, "superseded"),
        ({"superseded_by": ("b.md",), "valid_until": NOW + timedelta(days=1)}, "current"),
    ],
)
def test_a_card_is_labelled_by_its_dates(fields: dict[str, Any], label: str) -> None:
    assert validity(card(**fields), NOW, {}) == label


def test_what_is_superseded_now_was_current_before() -> None:
    old = card(superseded_by=("b.md",), valid_until=datetime(2026, 1, 1, tzinfo=UTC))
    assert validity(old, datetime(2025, 12, 31, tzinfo=UTC), {}) == "current"
    assert validity(old, datetime(2026, 1, 1, tzinfo=UTC), {}) == "superseded"


@pytest.mark.parametrize(
    ("fields", "since", "label"),
    [
        ({}, NOW, "superseded"),
        ({}, ALWAYS, "superseded"),
        ({}, NOW + timedelta(days=1), "current"),
        ({"superseded_by": ("b.md",)}, NOW + timedelta(days=1), "superseded"),
        ({"valid_until": NOW + timedelta(days=1)}, NOW, "current"),
        ({"valid_until": NOW}, NOW, "superseded"),
    ],
)
def test_a_card_that_another_replaced_is_superseded_from_then_on(
    fields: dict[str, Any], since: datetime, label: str
) -> None:
    old = card("a.md", **fields)
    assert validity(old, NOW, {"a.md": since}) == label
    assert validity(card("b.md"), NOW, {"a.md": since}) == "current"


def test_what_is_not_current_ranks_below() -> None:
    current, expired, future = validity_weights(
        [card(), card(valid_until=NOW), card(valid_from=NOW + timedelta(days=1))], NOW, {}
    )
    assert current == 1
    assert expired < current
    assert future < current
