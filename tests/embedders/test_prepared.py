from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cogvault.embedders.prepared import PreparedFolder
from cogvault.errors import ModelError


class Maker:
    """Fills a folder and counts how often."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, folder: Path) -> None:
        self.runs += 1
        (folder / "weights").write_bytes(bytes(range(256)) * 40)
        (folder / "graph").write_bytes(b"graph")


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
def folder(tmp_path: Path, maker: Maker) -> PreparedFolder:
    return PreparedFolder(tmp_path / "models" / "m-1", maker)


def test_a_folder_is_made_once_and_kept(folder: PreparedFolder, maker: Maker) -> None:
    assert (folder.ensure() / "graph").read_bytes() == b"graph"
    assert folder.ensure() == folder.path
    assert maker.runs == 1


@pytest.mark.parametrize("damage", ["truncated", "zeros", "one bit", "missing file", "no manifest", "odd manifest"])
def test_a_damaged_folder_is_made_anew_and_said_so(
    damage: str, folder: PreparedFolder, maker: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    weights = folder.ensure() / "weights"
    sound = weights.read_bytes()
    if damage == "truncated":
        weights.write_bytes(sound[:-1])
    elif damage == "zeros":
        weights.write_bytes(bytes(len(sound)))
    elif damage == "one bit":
        weights.write_bytes(sound[:5000] + bytes([sound[5000] ^ 1]) + sound[5001:])
    elif damage == "missing file":
        weights.unlink()
    else:
        (folder.path / "manifest.json").write_text("" if damage == "no manifest" else "[1]")
    with caplog.at_level(logging.WARNING):
        folder.ensure()
    assert weights.read_bytes() == sound
    assert maker.runs == 2
    assert str(folder.path) in caplog.text


def test_many_at_once_make_it_once(folder: PreparedFolder, maker: Maker) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: PreparedFolder(folder.path, maker).ensure(), range(8))) == {folder.path}
    assert maker.runs == 1


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    folder = PreparedFolder(tmp_path / "m", fail)
    with pytest.raises(ModelError, match="No space left") as caught:
        folder.ensure()
    assert caught.value.path == str(folder.path)
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_dir()] == []


def test_what_a_killed_process_left_is_swept(folder: PreparedFolder) -> None:
    left_over = folder.path.parent / ".m-1-dead"
    left_over.mkdir(parents=True)
    (left_over / "weights").write_bytes(b"half")
    folder.ensure()
    assert not left_over.exists()


def test_damage_right_after_making_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    class Rotten(PreparedFolder):
        def is_sound(self) -> bool:
            return False

    folder = Rotten(tmp_path / "m", Maker())
    with pytest.raises(ModelError, match="again right after") as caught:
        folder.ensure()
    assert caught.value.path == str(tmp_path / "m")


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path, maker: Maker) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = PreparedFolder(tmp_path / "file" / "m", maker)
    with pytest.raises(ModelError, match="cannot be written") as caught:
        folder.ensure()
    assert caught.value.path == str(folder.path)
