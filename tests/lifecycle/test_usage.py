"""Uses of cards: counted once an answer, by any number of threads and processes, in a file that outlives kills."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cogvault.errors import VaultError
from cogvault.lifecycle.usage import Usage, Used

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def usage(tmp_path: Path, clock: Clock) -> Iterator[Usage]:
    usage = Usage(tmp_path / "state" / "usage.sqlite", clock)
    yield usage
    usage.close()


def test_an_answer_counts_once_for_each_card(usage: Usage, clock: Clock) -> None:
    usage.count(["a.md", "b.md", "a.md"])
    clock.now += timedelta(hours=1)
    usage.count(["a.md"])
    assert usage.all() == {"a.md": Used(2, NOW + timedelta(hours=1)), "b.md": Used(1, NOW)}


def test_a_clock_that_goes_back_does_not_make_a_card_older(usage: Usage, clock: Clock) -> None:
    usage.count(["a.md"])
    clock.now -= timedelta(days=1)
    usage.count(["a.md"])
    assert usage.all() == {"a.md": Used(2, NOW)}


def test_an_empty_answer_and_a_look_make_no_file(usage: Usage) -> None:
    usage.count([])
    usage.move([("a.md", "b.md")])
    usage.drop(["a.md"])
    assert usage.all() == {}
    assert not usage.path.parent.exists()


def test_uses_go_along_with_a_card_that_moves(usage: Usage) -> None:
    usage.count(["a.md"])
    usage.count(["a.md", "taken.md"])
    usage.move([("a.md", "b.md"), ("never-used.md", "c.md")])
    assert {id: used.uses for id, used in usage.all().items()} == {"b.md": 2, "taken.md": 1}
    usage.move([("b.md", "taken.md")])
    assert {id: used.uses for id, used in usage.all().items()} == {"taken.md": 3}


def test_a_deleted_card_leaves_nothing(usage: Usage) -> None:
    usage.count(["a-telling-name.md", "b.md"])
    usage.drop(["a-telling-name.md"])
    usage.close()
    assert set(usage.all()) == {"b.md"}
    usage.close()
    assert b"a-telling-name" not in b"".join(path.read_bytes() for path in usage.path.parent.iterdir())


def test_a_deleted_card_leaves_nothing_while_the_file_is_open(usage: Usage) -> None:
    usage.count(["a-telling-name.md", "b.md"])
    usage.drop(["a-telling-name.md"])
    assert b"a-telling-name" not in b"".join(path.read_bytes() for path in usage.path.parent.iterdir())
    assert set(usage.all()) == {"b.md"}


def test_a_log_that_another_connection_reads_is_told_and_the_card_is_deleted(
    usage: Usage, caplog: pytest.LogCaptureFixture
) -> None:
    usage.count(["a.md", "b.md"])
    with closing(sqlite3.connect(usage.path, isolation_level=None)) as reader, caplog.at_level(logging.WARNING):
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM used").fetchall()
        usage.drop(["a.md"])
    assert "the log of uses was not emptied" in caplog.text
    assert set(usage.all()) == {"b.md"}


def test_a_task_is_claimed_once_an_interval(usage: Usage, clock: Clock) -> None:
    other = Usage(usage.path, clock)
    day = timedelta(hours=24)
    assert usage.claim("sweep", day)
    assert not other.claim("sweep", day)
    assert other.claim("something else", day)
    clock.now += day
    assert other.claim("sweep", day)
    assert not usage.claim("sweep", day)
    other.close()


def test_threads_lose_no_use(usage: Usage) -> None:
    def search() -> None:
        for _ in range(25):
            usage.count(["a.md"])

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert usage.all()["a.md"].uses == 200


def _count_and_die(path: Path, times: int) -> None:
    usage = Usage(path, Clock())
    for _ in range(times):
        usage.count(["a.md"])
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills")
def test_processes_that_are_killed_lose_no_use(usage: Usage) -> None:
    usage.count(["a.md"])
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_count_and_die, args=(usage.path, 20)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert usage.all()["a.md"].uses == 61


def test_a_damaged_file_is_set_aside_and_counting_goes_on(usage: Usage, caplog: pytest.LogCaptureFixture) -> None:
    usage.path.parent.mkdir()
    usage.path.write_bytes(b"this is no database, whatever its name may say" * 100)
    with caplog.at_level(logging.WARNING):
        usage.count(["a.md"])
    assert usage.all()["a.md"].uses == 1
    assert "damaged" in caplog.text
    assert usage.path.with_suffix(".damaged").read_bytes().startswith(b"this is no")


@pytest.mark.parametrize("is_emptied", [True, False], ids=["cut off", "without tables"])
def test_a_file_that_was_emptied_is_no_file_of_cards_that_were_never_used(usage: Usage, is_emptied: bool) -> None:
    usage.count(["a.md"])
    usage.close()
    if is_emptied:
        usage.path.write_bytes(b"")
    else:
        with closing(sqlite3.connect(usage.path)) as database, database:
            database.execute("DROP TABLE used")
    assert usage.lost_at() is not None
    usage.count(["b.md"])
    assert usage.all().keys() == {"b.md"}
    assert usage.path.with_suffix(".damaged").exists()


def test_an_id_that_is_no_text_is_damage_too(usage: Usage, caplog: pytest.LogCaptureFixture) -> None:
    usage.count(["a.md"])
    usage.close()
    with closing(sqlite3.connect(usage.path)) as database, database:
        database.execute("UPDATE used SET id = CAST(x'ff' AS TEXT)")
    with caplog.at_level(logging.WARNING):
        assert usage.all() == {}
    assert "damaged" in caplog.text
    usage.count(["b.md"])
    assert usage.all()["b.md"].uses == 1


def test_a_file_that_cannot_be_used_fails_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    usage = Usage(tmp_path / "state" / "usage.sqlite", Clock())
    with caplog.at_level(logging.WARNING):
        usage.count(["a.md"])
    assert "not counted" in caplog.text


def test_counts_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    usage = Usage(tmp_path / "state" / "usage.sqlite", Clock())
    with pytest.raises(VaultError, match="cannot be read"):
        usage.all()
    with pytest.raises(VaultError, match="cannot be read"):
        usage.lost_at()


def test_counts_that_another_process_locks_are_not_taken_for_none(
    usage: Usage, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage.count(["a.md"])
    monkeypatch.setattr("cogvault.lifecycle.usage._WAIT_SECONDS", 0.01)
    usage.close()
    with closing(sqlite3.connect(usage.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(VaultError, match=r"usage\.sqlite.*cannot be read"):
            usage.all()
    assert usage.all()["a.md"].uses == 1


def test_a_new_file_remembers_when_the_counts_were_lost(usage: Usage, clock: Clock) -> None:
    usage.count(["a.md"])
    assert usage.lost_at() is None
    usage.close()
    usage.path.write_bytes(b"this is no database, whatever its name may say" * 100)
    clock.now += timedelta(days=1)
    assert usage.all() == {}
    clock.now += timedelta(days=1)
    assert usage.lost_at() == NOW + timedelta(days=1)


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_the_folders_above_the_file_are_for_this_user_alone(tmp_path: Path) -> None:
    usage = Usage(tmp_path / "state" / "vaults" / "one" / "usage.sqlite", Clock())
    usage.count(["a.md"])
    usage.close()
    folders = ("state", "state/vaults", "state/vaults/one")
    assert [oct((tmp_path / folder).stat().st_mode)[-3:] for folder in folders] == ["700"] * 3
    assert oct(usage.path.stat().st_mode)[-3:] == "600"


def test_another_process_that_hangs_in_a_write_holds_nobody_up(
    usage: Usage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage.count(["a.md"])
    monkeypatch.setattr("cogvault.lifecycle.usage._WAIT_SECONDS", 0.01)
    usage.close()
    other = sqlite3.connect(usage.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with caplog.at_level(logging.WARNING):
        usage.count(["a.md"])
    other.close()
    assert "locked" in caplog.text
    assert usage.all()["a.md"].uses == 1
