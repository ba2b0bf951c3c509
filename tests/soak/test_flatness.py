from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.soak.flatness import slope

NUMBERS = st.floats(-1e3, 1e3)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=40, unique=True), NUMBERS, NUMBERS)
def test_a_line_has_its_own_slope(times: list[int], rise: float, start: float) -> None:
    assert slope(times, [start + rise * time for time in times]) == pytest.approx(rise, abs=1e-6)


def test_a_few_outliers_do_not_move_it() -> None:
    values = [5.0] * 60
    values[3], values[30], values[59] = 900.0, -50.0, 4000.0
    assert slope(range(60), values) == 0.0


def test_steps_upward_are_seen() -> None:
    assert slope(range(100), [100.0 + number // 10 for number in range(100)]) == pytest.approx(0.1, rel=0.1)


def test_one_sample_is_flat() -> None:
    assert slope([1.0], [3.0]) == slope([], []) == 0.0
