"""Memory that the keyword engine's threads free is given back, and they do not each keep a heap of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cogvault.indexes.local import heap

COUNTED = """
import ctypes, sys
from pathlib import Path
from cogvault.indexes import LocalIndex
from cogvault.testing.records import record
from cogvault.types import ChangeSet

folder = Path(sys.argv[1])
index = LocalIndex(folder / "index")
for number in range(4):
    index.apply(ChangeSet(put=(record(f"{number}.md", "text"),)))
index.close()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
file = libc.fopen(str(folder / "told").encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
print((folder / "told").read_text().count("<heap nr"))
"""

glibc = pytest.mark.skipif(heap._find("malloc_info") is None, reason="only glibc tells of its heaps")  # noqa: SLF001


def _heaps(folder: os.PathLike[str], environment: dict[str, str]) -> int:
    clean = {name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, folder], env=clean | environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@glibc
def test_the_threads_of_commits_share_few_heaps(tmp_path: os.PathLike[str]) -> None:
    assert _heaps(tmp_path, {}) <= 3


@glibc
def test_who_says_how_many_heaps_there_are_is_obeyed(tmp_path: os.PathLike[str]) -> None:
    assert _heaps(tmp_path, {"MALLOC_ARENA_MAX": "1"}) == 1
    assert _heaps(tmp_path, {"MALLOC_ARENA_MAX": "5"}) > 3
