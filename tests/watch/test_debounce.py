"""Gathering hints, with a told time."""

from __future__ import annotations

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexing.debounce import Debouncer

A, B = Path("/v/a.md"), Path("/v/b.md")


def test_nothing_is_due_before_the_first_hint() -> None:
    assert Debouncer().wait_seconds(100) == math.inf


def test_a_batch_is_due_after_a_pause() -> None:
    hints = Debouncer(quiet_seconds=0.5)
    hints.add(A, 10.0)
    hints.add(B, 10.25)
    assert hints.wait_seconds(10.5) == 0.25
    assert hints.wait_seconds(10.75) == 0
    assert hints.take() == frozenset((A, B))
    assert hints.wait_seconds(11) == math.inf


def test_hints_without_a_pause_wait_at_most_the_longest_time() -> None:
    hints = Debouncer(quiet_seconds=0.5, longest_seconds=5)
    now = 0.0
    while hints.wait_seconds(now):
        hints.add(A, now)
        now += 0.25
    assert now == 5.0


def test_a_lost_hint_means_everything() -> None:
    hints = Debouncer()
    hints.add(A, 0)
    hints.add(None, 0)
    hints.add(B, 0)
    assert hints.take() is None
    hints.add(B, 1)
    assert hints.take() == frozenset((B,))


def test_too_many_hints_mean_everything_even_for_one_path() -> None:
    hints = Debouncer(most=3)
    for _ in range(4):
        hints.add(A, 0)
    assert len(hints) == 4
    assert hints.take() is None


@given(st.lists(st.tuples(st.floats(0, 2), st.sampled_from([A, B])), min_size=1))
def test_no_hint_is_lost_and_none_waits_too_long(steps: list[tuple[float, Path]]) -> None:
    hints = Debouncer(quiet_seconds=0.5, longest_seconds=5)
    now, waiting, taken, given_since = 0.0, set[Path](), set[Path](), math.inf
    for pause, path in steps:
        now += pause
        if hints.wait_seconds(now) == 0:
            batch = hints.take()
            assert batch == frozenset(waiting)
            taken |= waiting
            waiting, given_since = set(), math.inf
        hints.add(path, now)
        waiting.add(path)
        given_since = min(given_since, now)
        assert now + hints.wait_seconds(now) <= given_since + 5 + 1e-9
    assert taken | (hints.take() or set()) == {path for _, path in steps}
