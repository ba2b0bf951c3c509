"""Who may compute: as many at once as there are turns, first come first served, and nobody holds one while waiting."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogvault import Config, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.registry import ModelPool
from cogvault.retrieval.turns import Turns
from cogvault.types import FloatArray

SECONDS = 30.0


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_no_more_than_so_many_are_inside_and_all_come_in() -> None:
    turns, lock = Turns(3), threading.Lock()
    inside, most, done = 0, 0, 0

    def work() -> None:
        nonlocal inside, most, done
        for _ in range(50):
            with turns:
                with lock:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0)
                with lock:
                    inside -= 1
                    done += 1

    threads = [started(work) for _ in range(12)]
    for thread in threads:
        thread.join(SECONDS)
    assert (inside, done) == (0, 600)
    assert most <= 3


def test_who_came_first_is_first() -> None:
    turns, order = Turns(1), list[int]()

    def enter(number: int) -> None:
        with turns:
            order.append(number)

    with turns:
        threads = []
        for number in range(6):
            threads.append(started(lambda number=number: enter(number)))  # type: ignore[misc]
            until(lambda number=number: turns.waiting == number + 1)  # type: ignore[misc]
    for thread in threads:
        thread.join(SECONDS)
    assert order == list(range(6))


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns(1)
    with pytest.raises(RuntimeError), turns:
        raise RuntimeError
    with turns:
        pass


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs a signal of one's own")
def test_who_is_interrupted_while_waiting_leaves_the_queue() -> None:
    turns, held, go = Turns(1), threading.Event(), threading.Event()

    def hold() -> None:
        with turns:
            held.set()
            go.wait(SECONDS)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        holder = started(hold)
        assert held.wait(SECONDS)

        def send() -> None:
            until(lambda: turns.waiting)
            os.kill(os.getpid(), signal.SIGUSR1)

        sender = started(send)
        with pytest.raises(KeyboardInterrupt), turns:
            pass
        sender.join(SECONDS)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert turns.waiting == 0
    go.set()
    holder.join(SECONDS)
    with turns:
        pass


def test_none_is_no_number_of_turns() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Turns(0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("# Redis\n\nThe queue lives in a table of PostgreSQL.\n")
    return tmp_path / "vault"


def config(tmp_path: Path) -> Config:
    return Config(model="none", index_dir=tmp_path / "i", cache_dir=tmp_path / "c", state_dir=tmp_path / "s", log="off")


def test_a_search_waits_for_its_turn_and_nothing_else_does(folder: Path, tmp_path: Path) -> None:
    models = ModelPool(tmp_path / "c", threads=1)
    with Vault(folder, config(tmp_path), models=models) as vault:
        vault.sync()
        found: list[str] = []
        with models.turns:
            search = started(lambda: found.extend(hit.id for hit in vault.search("Redis queue")))
            until(lambda: models.turns.waiting)
            assert vault.record("Ana likes tea.", title="Ana").action == "created"
            assert vault.sync().status == "ok"
            assert len(vault.cards()) == 2
            assert not found
        search.join(SECONDS)
        assert found == ["a.md"]


class Distant(HashingEmbedder):
    """A model that is asked over a network."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answer = threading.Event(), threading.Event()

    def embed_query(self, text: str) -> FloatArray:
        self.asked.set()
        self.answer.wait(SECONDS)
        return np.asarray(super().embed_query(text))


def test_a_model_that_is_waited_for_holds_no_turn(folder: Path, tmp_path: Path) -> None:
    models, distant = ModelPool(tmp_path / "c", threads=1), Distant()
    settings: Any = {"models": models}
    distant.answer.set()
    with (
        Vault(folder, config(tmp_path).model_copy(update={"model": "auto"}), embedder=distant, **settings) as far,
        Vault(folder, config(tmp_path), **settings) as near,
    ):
        far.sync()
        distant.asked.clear()
        distant.answer.clear()
        search = started(lambda: far.search("Redis queue"))
        assert distant.asked.wait(SECONDS)
        assert len(near.search("Redis queue", sync=False))
        distant.answer.set()
        search.join(SECONDS)


def test_the_bundled_model_takes_a_turn_of_its_own_for_a_query(tmp_path: Path) -> None:
    models = ModelPool(tmp_path / "c", threads=1)
    model = models.get("bundled")
    assert model is not None
    model.embed_query("warm")
    with models.turns:
        model.embed_query("while another search ranks")
    with models.model_turns:
        embedding = started(lambda: model.embed_query("Redis"))
        until(lambda: models.model_turns.waiting)
    embedding.join(SECONDS)
    assert not models.model_turns.waiting
