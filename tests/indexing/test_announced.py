"""What one thread wrote is looked at before it goes on, whoever looks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cogvault.indexing.announced import Announced

LONG = 30.0


def test_paths_are_looked_at_once(tmp_path: Path) -> None:
    announced, seen = Announced(tmp_path), []
    announced.add(["a.md"])
    announced.add(["b.md"])
    for _ in range(2):
        announced.settle(lambda paths: seen.append(paths) is None, LONG)
    assert seen == [{"a.md", "b.md"}]


def test_paths_of_a_look_that_failed_are_looked_at_again(tmp_path: Path) -> None:
    announced, seen = Announced(tmp_path), []
    announced.add(["a.md"])
    for _ in range(2):
        announced.settle(lambda paths: bool(seen.append(paths)), LONG)
    assert seen == [{"a.md"}, {"a.md"}]


def test_a_thread_waits_for_who_looks_at_its_paths(tmp_path: Path) -> None:
    announced, begun, go_on, order = Announced(tmp_path), threading.Event(), threading.Event(), []

    def slow(paths: set[str]) -> bool:
        begun.set()
        order.append("began")
        go_on.wait(LONG)
        order.append("ended")
        return True

    announced.add(["a.md"])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(announced.settle, slow, LONG)
        begun.wait(LONG)
        second = pool.submit(announced.settle, lambda paths: order.append("again") is None, LONG)
        second.add_done_callback(lambda _: order.append("went on"))
        announced.settle(slow, 0.01)  # who has no time goes on before
        assert order == ["began"]
        go_on.set()
        first.result(LONG)
        second.result(LONG)
    assert order == ["began", "ended", "went on"]


def test_a_look_at_everything_takes_the_paths_and_is_never_left_out(tmp_path: Path) -> None:
    announced, seen = Announced(tmp_path), []
    announced.add(["a.md"])
    for is_whole in (True, False, True):
        announced.settle(lambda paths: seen.append(paths) is None, LONG, is_whole=is_whole)
    assert seen == [{"a.md"}, set()]


def test_nobody_without_paths_waits_for_a_look_at_everything(tmp_path: Path) -> None:
    announced, begun, go_on, calls = Announced(tmp_path), threading.Event(), threading.Event(), []

    def slow(paths: set[str]) -> bool:
        begun.set()
        return go_on.wait(LONG)

    with ThreadPoolExecutor(1) as pool:
        whole = pool.submit(announced.settle, slow, LONG, is_whole=True)
        begun.wait(LONG)
        announced.settle(lambda paths: calls.append(paths) is None, LONG)
        assert not whole.done()
        go_on.set()
    assert calls == []


def test_who_waited_in_vain_is_told(tmp_path: Path) -> None:
    announced, asked = Announced(tmp_path), []
    announced.add(["a.md"])

    def look(paths: set[str]) -> bool:
        waiter = threading.Thread(target=lambda: asked.append(announced.settle(lambda _: True, 0.01, is_whole=True)))
        waiter.start()
        waiter.join()  # this look is not done before the other one has given up
        return True

    assert announced.settle(look, LONG)
    assert asked == [False]
    assert not announced.settle(lambda _: False, LONG, is_whole=True)
    assert announced.settle(lambda _: True, LONG)
