"""No acknowledged turn is lost, and no file is left broken, whenever processes are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogvault.types import Turn
from tests.lifecycle.session_worker import NOW, sessions


class Workers:
    """Starts processes that append."""

    def __init__(self, repository: Path) -> None:
        command = [sys.executable, "-m", "tests.lifecycle.session_worker"]
        self.process = subprocess.Popen(
            command, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, base: Path, writer: str, count: int, die_at: int | None = None) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = {"base": str(base), "session": "abc", "writer": writer, "count": count, "die_at": die_at}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def statuses(self) -> list[int]:
        """Wait for all."""
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.process.stdin.close()
        return [int(line) for line in self.process.stdout]


@pytest.fixture
def workers(repository: Path) -> Iterator[Workers]:
    workers = Workers(repository)
    yield workers
    workers.process.kill()
    workers.process.wait()
    for pipe in (workers.process.stdin, workers.process.stdout):
        assert pipe is not None
        pipe.close()


def said(turns: list[Turn], writer: str) -> list[int]:
    """Numbers of a writer's turns, each of which is whole."""
    own = [turn for turn in turns if turn.speaker == writer]
    numbers = [int(turn.text.split()[1]) for turn in own]
    assert [turn.text for turn in own] == [f"turn {number}\n\n# no heading\n" + "words " * 40 for number in numbers]
    return numbers


def acknowledged(base: Path, writer: str) -> list[int]:
    path = base / f"acknowledged-{writer}"
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_turn_cut_off_by_a_kill_is_taken_away_at_the_next_open(tmp_path: Path, workers: Workers) -> None:
    workers.start(tmp_path, "ana", 10, die_at=4)
    assert workers.statuses() == [-signal.SIGKILL]
    [path] = (tmp_path / "vault" / "session" / "abc" / "timeline").iterdir()
    torn = path.read_bytes()
    assert not torn.endswith(b"\n")
    session = sessions(tmp_path)("abc")
    assert torn.startswith(path.read_bytes())
    assert path.read_bytes().endswith(b"\n")
    assert said(session.turns(), "ana") == acknowledged(tmp_path, "ana") == [0, 1, 2, 3]
    assert session.turns()[-1].speaker == "ana"
    session.append("Bob", "goes on", NOW)
    assert session.turns()[-1] == Turn("Bob", "goes on", NOW)
    assert len(session.turns()) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_reader_that_was_there_already_never_sees_the_half_turn(tmp_path: Path, workers: Workers) -> None:
    session = sessions(tmp_path)("abc")
    workers.start(tmp_path, "ana", 10, die_at=2)
    assert workers.statuses() == [-signal.SIGKILL]
    assert said(session.turns(), "ana") == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_processes_killed_at_any_instant_lose_nothing_they_acknowledged(tmp_path: Path, workers: Workers) -> None:
    """Each is killed while others append; those go on."""
    survivor = workers.start(tmp_path, "survivor", 150)
    for number in range(12):
        writer = f"w{number}"
        child = workers.start(tmp_path, writer, 10_000)
        while len(acknowledged(tmp_path, writer)) < 1 + number:
            os.sched_yield()
        os.kill(child, signal.SIGKILL)
    assert survivor
    assert workers.statuses() == [0] + [-signal.SIGKILL] * 12
    turns = sessions(tmp_path)("abc").turns()
    assert said(turns, "survivor") == list(range(150))
    for number in range(12):
        found, known = said(turns, f"w{number}"), acknowledged(tmp_path, f"w{number}")
        assert found[: len(known)] == known
        assert found == list(range(len(found)))
        assert len(found) - len(known) <= 1
