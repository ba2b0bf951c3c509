"""Steps of a work as one figure."""

from __future__ import annotations

import anyio
import anyio.to_thread
from hypothesis import given
from hypothesis import strategies as st

from cogvault_mcp.progress import Rising

Step = tuple[float, float, str]


def told_of(steps: list[Step]) -> list[Step]:
    told: list[Step] = []
    rising = Rising(lambda *step: told.append(step))

    def work() -> None:
        for step in steps:
            rising(*step)

    async def run() -> None:
        await anyio.to_thread.run_sync(work)

    anyio.run(run)
    return told


def test_a_step_goes_on_where_the_one_before_it_ended() -> None:
    steps = [(5.0, 5.0, "scan"), (0.0, 3.0, "keyword"), (3.0, 3.0, "keyword"), (1.0, 9.0, "vectors")]
    assert told_of(steps) == [(5, 5, "scan"), (8, 8, "keyword"), (9, 17, "vectors")]


@given(st.lists(st.tuples(st.floats(0, 99), st.just(99.0), st.sampled_from(["scan", "keyword"])), max_size=20))
def test_it_only_rises(steps: list[Step]) -> None:
    figures = [done for done, _, _ in told_of(steps)]
    assert figures == sorted(set(figures))


def test_a_call_that_was_cancelled_ends_at_the_next_step() -> None:
    ended: list[BaseException] = []

    async def run() -> None:
        begun, may_go_on = anyio.Event(), anyio.Event()

        def work() -> None:
            anyio.from_thread.run_sync(begun.set)
            anyio.from_thread.run(_wait, may_go_on)
            try:
                Rising(lambda *step: None)(1, 2, "scan")
            except BaseException as error:
                ended.append(error)
                raise

        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, work)
            await begun.wait()
            group.cancel_scope.cancel()
            may_go_on.set()

    anyio.run(run)
    assert ended


async def _wait(event: anyio.Event) -> None:
    with anyio.CancelScope(shield=True):
        await event.wait()
