"""A job beside those who search is not begun again by each of them when it fails, however it fails."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from cogvault.errors import IndexFault
from cogvault.indexing.beside import Beside


@pytest.mark.parametrize("error", [OSError("no space"), IndexFault("no space"), RuntimeError("a defect")])
def test_a_job_that_failed_is_not_begun_again_at_once(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    tried = []

    def job(go_on: Callable[[], None]) -> None:
        tried.append(1)
        raise error

    beside = Beside(job)
    assert [beside.begin(60), *(beside.begin(60) for _ in range(3))] == [True, False, False, False]
    assert len(tried) == 1
    beside.close()


def test_a_job_that_ended_well_may_begin_again_at_once() -> None:
    done = []
    beside = Beside(lambda go_on: done.append(1))
    assert [beside.begin(60), beside.begin(60)] == [True, True]
    assert len(done) == 2
    beside.close()
    assert not beside.begin(60)


def test_a_thread_that_could_not_be_started_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    beside = Beside(lambda go_on: None)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError):
            beside.begin(0)
    beside.close()


def test_closing_ends_a_job_at_its_next_step() -> None:
    reached = threading.Event()

    def endless(go_on: Callable[[], None]) -> None:
        while True:
            go_on()
            reached.set()

    beside = Beside(endless)
    assert not beside.begin(0)
    assert reached.wait(60)
    beside.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "cogvault-repair"]
