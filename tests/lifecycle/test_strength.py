"""The forgetting curve: bounds, and what makes a memory stronger."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.lifecycle import strength as module
from cogvault.lifecycle.strength import half_life_days, strength

NOW = datetime(2026, 6, 1, tzinfo=UTC)
shares = st.none() | st.floats(0, 1)
counts = st.integers(0, 10**9)
ages = st.floats(-1000, 40_000).map(lambda days: NOW - timedelta(days=days))


@given(shares, counts, ages)
def test_strength_lies_between_0_and_1(importance: float | None, uses: int, since: datetime) -> None:
    assert 0 <= strength(importance, uses, since, NOW) <= 1


@given(shares, counts, ages, ages)
def test_it_never_grows_with_age(importance: float | None, uses: int, one: datetime, other: datetime) -> None:
    older, newer = sorted((one, other))
    assert strength(importance, uses, older, NOW) <= strength(importance, uses, newer, NOW)


@given(shares, counts, counts, ages)
def test_it_never_falls_with_uses(importance: float | None, one: int, other: int, since: datetime) -> None:
    fewer, more = sorted((one, other))
    assert strength(importance, fewer, since, NOW) <= strength(importance, more, since, NOW)


@given(st.floats(0, 1), st.floats(0, 1), counts, ages)
def test_it_never_falls_with_importance(one: float, other: float, uses: int, since: datetime) -> None:
    less, more = sorted((one, other))
    assert strength(less, uses, since, NOW) <= strength(more, uses, since, NOW)


@given(shares, counts)
def test_after_a_half_life_half_is_left(importance: float | None, uses: int) -> None:
    days = min(half_life_days(importance, uses), 300_000.0)  # datetime begins with the year 1
    expected = 2 ** (-days / half_life_days(importance, uses))
    assert strength(importance, uses, NOW - timedelta(days=days), NOW) == pytest.approx(expected, abs=1e-9)


def test_figures_of_the_docs() -> None:
    assert half_life_days(None, 0) == 90
    assert half_life_days(0.5, 3) == 180
    assert half_life_days(1.0, 0) == 360
    assert half_life_days(0.0, 0) == 22.5
    assert strength(None, 0, NOW - timedelta(days=156), NOW) > 0.3 > strength(None, 0, NOW - timedelta(days=157), NOW)


def test_a_use_to_come_counts_as_now() -> None:
    assert strength(None, 0, NOW + timedelta(days=365), NOW) == 1


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0
