"""Looks of other processes at all files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.indexing.last_look import LastLook

_SECOND = 10**9
_BEGAN = 1_800_000_000 * _SECOND


def test_others_know_when_a_look_began(tmp_path: Path) -> None:
    LastLook(tmp_path, "kind", 1).keep(_BEGAN, 7)
    other = LastLook(tmp_path, "kind", 2)
    assert other.age_seconds(_BEGAN + 3 * _SECOND, 7) == 3.0
    assert other.age_seconds(_BEGAN, 8) == 0.0
    LastLook(tmp_path, "kind", 3).keep(_BEGAN + 2 * _SECOND, 9)
    assert other.age_seconds(_BEGAN + 3 * _SECOND, 9) == 1.0


def test_a_look_of_this_process_is_none_of_another(tmp_path: Path) -> None:
    LastLook(tmp_path, "kind").keep(_BEGAN, 7)
    assert LastLook(tmp_path, "kind").age_seconds(_BEGAN, 7) is None


def test_another_kind_of_look_tells_nothing(tmp_path: Path) -> None:
    LastLook(tmp_path, "recursive", 1).keep(_BEGAN, 7)
    assert LastLook(tmp_path, "flat", 2).age_seconds(_BEGAN, 7) is None


def test_an_index_that_is_older_than_the_look_does_not_hold_what_it_found(tmp_path: Path) -> None:
    LastLook(tmp_path, "kind", 1).keep(_BEGAN, 7)
    assert LastLook(tmp_path, "kind", 2).age_seconds(_BEGAN, 6) is None


def test_a_clock_that_was_put_back_makes_no_look_last(tmp_path: Path) -> None:
    LastLook(tmp_path, "kind", 1).keep(_BEGAN, 7)
    assert LastLook(tmp_path, "kind", 2).age_seconds(_BEGAN - 1, 7) is None


def test_a_look_on_another_machine_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LastLook(tmp_path, "kind", 1).keep(_BEGAN, 7)
    monkeypatch.setattr("cogvault.indexing.last_look.socket.gethostname", lambda: "another")
    assert LastLook(tmp_path, "kind", 2).age_seconds(_BEGAN, 7) is None


def test_a_damaged_file_tells_nothing_and_is_written_over(tmp_path: Path) -> None:
    look, other = LastLook(tmp_path, "kind", 1), LastLook(tmp_path, "kind", 2)
    look.keep(_BEGAN, 7)
    [file] = tmp_path.iterdir()
    line = file.read_bytes()
    damaged = [b"", b"\0" * len(line), line[:-2], line * 2, line.replace(b" ", b"\n"), b"a b c d e", b"a 1 -2 3 e"]
    damaged += [line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :] for at in range(len(line))]
    for content in damaged:
        file.write_bytes(content)
        assert other.age_seconds(_BEGAN, 7) is None
    file.write_bytes(b"\0" * 2 * len(line))
    look.keep(_BEGAN, 8)
    assert other.age_seconds(_BEGAN, 8) == 0.0


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    look = LastLook(tmp_path / "missing", "kind", 1)
    look.keep(_BEGAN, 7)
    assert LastLook(tmp_path / "missing", "kind", 2).age_seconds(_BEGAN, 7) is None
