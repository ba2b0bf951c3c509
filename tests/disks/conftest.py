from __future__ import annotations

import codecs
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogvault import Config
from tests.settling import settle

_NOBODY = 65534


def config(index_dir: Path) -> Config:
    """Settings without a model, with which every search looks for changes."""
    return Config(model="none", index_dir=index_dir, cache_dir=index_dir.parent / "cache", refresh_seconds=0, threads=1)


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every entry of a folder with size and time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        found[str(path.relative_to(folder))] = (status.st_size, status.st_mtime_ns)
    return found


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.md").write_text(f"# Card {number}\n\nnumbat number{number} sleeps in a log\n")
    settle(folder)
    return folder.resolve()


class SmallDisk:
    """A file system of its own in memory, whose size can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resize(self, kilobytes: int) -> None:
        """Give it another size; what is on it stays."""
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(self.folder)], check=True)

    def leave(self, kilobytes: int) -> None:
        """Make it so small that only this is free."""
        status = os.statvfs(self.folder)
        used = (status.f_blocks - status.f_bfree) * status.f_frsize // 1024
        self.resize(used + max(kilobytes, 4))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "cogvault-test", str(folder)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("mounting a small disk needs rights that this process lacks")
    yield SmallDisk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder whose owner has no special rights, and runs the test: permissions do not bind root."""
    folder = Path(tempfile.mkdtemp()).resolve()
    is_root = os.geteuid() == 0
    if is_root:
        for encoding in ("ascii", "utf-8-sig"):  # what Python reads late may be root's alone
            codecs.lookup(encoding)
        os.chown(folder, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        for path in (folder, *sorted(folder.rglob("*"))):
            path.chmod(0o700)
        shutil.rmtree(folder)
