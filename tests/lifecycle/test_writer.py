"""Files are written whole or not at all, and never over another's bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cogvault.cards.paths import is_hidden
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CardError, ConflictError


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_whole(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.md", b"one\r\n", expected_hash=None)
    assert (tmp_path / "a.md").read_bytes() == b"one\r\n"
    assert _names(tmp_path) == ["a.md"]


def test_a_new_file_never_replaces_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"theirs")
    with pytest.raises(ConflictError):
        write_atomic(tmp_path / "a.md", b"ours", expected_hash=None)
    assert (tmp_path / "a.md").read_bytes() == b"theirs"
    assert _names(tmp_path) == ["a.md"]


def test_a_new_file_never_replaces_a_broken_link(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "gone.md")
    with pytest.raises(ConflictError):
        write_atomic(tmp_path / "a.md", b"ours", expected_hash=None)
    assert _names(tmp_path) == ["a.md"]


def test_a_file_system_without_hard_links_still_refuses_to_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", unsupported)
    write_atomic(tmp_path / "a.md", b"one", expected_hash=None)
    with pytest.raises(ConflictError):
        write_atomic(tmp_path / "a.md", b"two", expected_hash=None)
    assert (tmp_path / "a.md").read_bytes() == b"one"
    assert _names(tmp_path) == ["a.md"]


def test_expected_bytes_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    write_atomic(path, b"new", expected_hash=hash_of(b"old"))
    assert path.read_bytes() == b"new"
    assert _names(tmp_path) == ["a.md"]


def test_other_bytes_are_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"changed by an editor")
    with pytest.raises(ConflictError):
        write_atomic(path, b"new", expected_hash=hash_of(b"old"))
    assert path.read_bytes() == b"changed by an editor"
    assert _names(tmp_path) == ["a.md"]


def test_a_file_that_is_gone_is_a_conflict_and_stays_gone(tmp_path: Path) -> None:
    with pytest.raises(ConflictError):
        write_atomic(tmp_path / "a.md", b"new", expected_hash=hash_of(b"old"))
    assert _names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
def test_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(path, b"new", expected_hash=hash_of(b"old"))
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a.md", b"new", expected_hash=None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o640


def test_a_read_only_card_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everything
    with pytest.raises(CardError, match="read-only"):
        write_atomic(path, b"new", expected_hash=hash_of(b"old"))
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["a.md"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    target = tmp_path / "inner" / "a.md"
    target.write_bytes(b"old")
    link = tmp_path / "a.md"
    link.symlink_to(target)
    write_atomic(link, b"new", expected_hash=hash_of(b"old"))
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_the_old_bytes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    expected = hash_of(b"old") if exists else None
    with pytest.raises(CardError, match="No space left"):
        write_atomic(path if expected else tmp_path / "b.md", b"new", expected_hash=expected)
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["a.md"]


def test_the_longest_name_can_be_written_and_the_temporary_name_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = os.fsync

    def watch(descriptor: int) -> None:
        seen.extend(name for name in _names(tmp_path) if not name.endswith(".md"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    path = tmp_path / ("x" * 252 + ".md")
    write_atomic(path, b"new", expected_hash=None)
    assert seen
    assert all(is_hidden(name) for name in seen)
