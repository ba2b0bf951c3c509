"""Looks of other processes at all files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cogvault.indexing.last_look import LastLook
from cogvault.indexing.machine_clock import MachineClock, machine_clock

_SECOND = 10**9
_BEGAN = 1_800_000_000 * _SECOND


class Clock:
    """A machine's clock, which stands still until it is set."""

    def __init__(self, name: str = "machine") -> None:
        self.now = _BEGAN
        self.of_machine = MachineClock(name, lambda: self.now)

    def look(self, folder: Path, process: int | None, kind: str = "kind") -> LastLook:
        return LastLook(folder, kind, process, self.of_machine)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_others_know_when_a_look_began(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path, 1).keep(_BEGAN, 7)
    other = clock.look(tmp_path, 2)
    assert other.age_seconds(8) == 0.0
    clock.now += 3 * _SECOND
    assert other.age_seconds(7) == 3.0
    clock.look(tmp_path, 3).keep(_BEGAN + 2 * _SECOND, 9)
    assert other.age_seconds(9) == 1.0


def test_a_look_of_this_process_is_none_of_another(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path, None).keep(_BEGAN, 7)
    assert clock.look(tmp_path, None).age_seconds(7) is None


def test_another_kind_of_look_tells_nothing(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path, 1, "recursive").keep(_BEGAN, 7)
    assert clock.look(tmp_path, 2, "flat").age_seconds(7) is None


def test_an_index_that_is_older_than_the_look_does_not_hold_what_it_found(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path, 1).keep(_BEGAN, 7)
    assert clock.look(tmp_path, 2).age_seconds(6) is None


def test_a_look_that_lies_ahead_is_not_known(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path, 1).keep(_BEGAN, 7)
    clock.now -= 1
    assert clock.look(tmp_path, 2).age_seconds(7) is None


def test_a_wall_clock_that_is_put_back_makes_no_look_younger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boot = tmp_path / "boot_id"
    boot.write_text("048fd716-d8ad-40b6-afa3-bba4e4d6cd47\n")
    look = LastLook(tmp_path, "kind", 1, machine_clock(boot))
    look.keep(look.now_ns(), 7)
    later, back = time.monotonic_ns() + 61 * _SECOND, time.time_ns() + 1 * _SECOND
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)
    monkeypatch.setattr(time, "time_ns", lambda: back)
    age = LastLook(tmp_path, "kind", 2, machine_clock(boot)).age_seconds(7)
    assert age is not None
    assert age >= 61


def test_a_look_before_the_machine_was_started_anew_tells_nothing(tmp_path: Path) -> None:
    boot = tmp_path / "boot_id"
    boot.write_text("first\n")
    LastLook(tmp_path, "kind", 1, machine_clock(boot)).keep(0, 7)
    boot.write_text("second\n")
    assert LastLook(tmp_path, "kind", 2, machine_clock(boot)).age_seconds(7) is None


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_machine_that_does_not_tell_when_it_was_started_goes_by_the_wall_clock(
    tmp_path: Path, content: bytes | None
) -> None:
    boot = tmp_path / "boot_id"
    if content is not None:
        boot.write_bytes(content)
    before = time.time_ns()
    assert before <= machine_clock(boot).now_ns() <= time.time_ns()


def test_a_look_on_another_machine_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = machine_clock()
    monkeypatch.setattr("cogvault.indexing.machine_clock.socket.gethostname", lambda: "another")
    LastLook(tmp_path, "kind", 1, first).keep(0, 7)
    assert LastLook(tmp_path, "kind", 2, machine_clock()).age_seconds(7) is None


def test_a_damaged_file_tells_nothing_and_is_written_over(tmp_path: Path, clock: Clock) -> None:
    look, other = clock.look(tmp_path, 1), clock.look(tmp_path, 2)
    look.keep(_BEGAN, 7)
    [file] = tmp_path.iterdir()
    line = file.read_bytes()
    damaged = [b"", b"\0" * len(line), line[:-2], line * 2, line.replace(b" ", b"\n"), b"a b c d e", b"a 1 -2 3 e"]
    damaged += [line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :] for at in range(len(line))]
    for content in damaged:
        file.write_bytes(content)
        assert other.age_seconds(7) is None
    file.write_bytes(b"\0" * 2 * len(line))
    look.keep(_BEGAN, 8)
    assert other.age_seconds(8) == 0.0


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path, clock: Clock) -> None:
    clock.look(tmp_path / "missing", 1).keep(_BEGAN, 7)
    assert clock.look(tmp_path / "missing", 2).age_seconds(7) is None
