"""The progress of a sync that a daemon does."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from cogvault import SyncProgress
from cogvault.client import Endpoint, progress
from cogvault.client.progress import told_meanwhile
from cogvault.errors import DaemonError
from cogvault.types import Status, VaultStatus
from tests.daemon.conftest import Ask


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0.001)


def status(cards: int, vectors: int, pending: int) -> VaultStatus:
    return VaultStatus(
        path="", index="", status=Status.OK, reason="", hint="", cards=cards, chunks=vectors + pending,
        vectors=vectors, pending=pending, model="", bytes_on_disk=0, sequence=1, synced_at=None, problems=(), notes=(),
    )  # fmt: skip


def test_it_is_told_as_the_status_shows_it_until_the_sync_ends() -> None:
    shown = iter([status(3, 0, 0), status(9, 0, 20), status(9, 5, 15), status(9, 20, 0)])
    told: list[SyncProgress] = []
    may_end = threading.Event()

    def note(step: SyncProgress) -> None:
        told.append(step)
        if len(told) == 4:
            may_end.set()

    def last() -> VaultStatus:
        return next(shown, status(9, 20, 0))

    assert told_meanwhile(lambda: may_end.wait(60) and "done", last, note) == "done"
    assert [(step.stage, step.done, step.total) for step in told][:4] == [
        ("keyword", 3, 3),
        ("vectors", 0, 20),
        ("vectors", 5, 20),
        ("keyword", 9, 9),
    ]


def test_what_fails_is_raised() -> None:
    def fail() -> None:
        raise DaemonError("gone")

    with pytest.raises(DaemonError, match="gone"):
        told_meanwhile(fail, lambda: status(1, 0, 0), lambda step: None)


def test_a_status_that_fails_leaves_out_one_step() -> None:
    asked = iter(range(1, 100))
    told: list[SyncProgress] = []
    may_end = threading.Event()

    def answer() -> VaultStatus:
        if (number := next(asked)) in (1, 3):
            raise DaemonError("256 calls wait already")
        return status(number, 0, 0)

    def note(step: SyncProgress) -> None:
        told.append(step)
        if len(told) == 2:
            may_end.set()

    assert told_meanwhile(lambda: may_end.wait(60) and "done", answer, note) == "done"
    assert [step.done for step in told][:2] == [2, 4]


def test_an_exit_within_the_sync_ends_the_wait() -> None:
    def leave() -> None:
        raise SystemExit(3)

    asked = iter(range(100))
    with pytest.raises(SystemExit):
        told_meanwhile(leave, lambda: status(next(asked), 0, 0), lambda step: None)


def test_who_gives_up_does_not_wait_for_the_end() -> None:
    may_end = threading.Event()

    def give_up(step: SyncProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told_meanwhile(lambda: may_end.wait(60), lambda: status(1, 0, 0), give_up)
    assert not may_end.is_set()
    may_end.set()


def test_a_sync_with_progress_gives_the_same_report(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    vault = ask(folder)
    vault.sync()
    told: list[SyncProgress] = []
    assert vault.sync(progress=told.append).unchanged == vault.sync().unchanged > 0
    assert all(isinstance(step, SyncProgress) for step in told)
