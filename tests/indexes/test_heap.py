"""Memory that the keyword engine's threads free is given back, and they do not each keep a heap of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cogvault.indexes.local import heap

COMMITTED = """
import sys
from pathlib import Path
from cogvault.indexes import LocalIndex
from cogvault.testing.records import record
from cogvault.types import ChangeSet

folder = Path(sys.argv[1])
index = LocalIndex(folder / "index")
for number in range(4):
    index.apply(ChangeSet(put=(record(f"{number}.md", "text"),)))
index.close()
"""

ASKED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from cogvault import Config, Fleet

folder, met = Path(sys.argv[1]), Barrier(8)

def take(number):
    met.wait()
    return [bytes(2000) for _ in range(1000)]

with Fleet(config=Config(model="none")), ThreadPoolExecutor(8) as pool:
    kept = list(pool.map(take, range(8)))
"""

COUNTED = """
import ctypes
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


def _heaps(folder: os.PathLike[str], environment: dict[str, str], code: str = COMMITTED) -> int:
    clean = {name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
    done = subprocess.run(
        [sys.executable, "-c", code + COUNTED, folder],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@glibc
def test_the_threads_of_commits_share_few_heaps(tmp_path: os.PathLike[str]) -> None:
    assert _heaps(tmp_path, {}) <= 3


@glibc
def test_the_threads_of_a_fleet_share_them_before_a_vault_is_open(tmp_path: os.PathLike[str]) -> None:
    assert _heaps(tmp_path, {}, ASKED) <= 2
    assert _heaps(tmp_path, {"MALLOC_ARENA_MAX": "5"}, ASKED) > 3


@glibc
def test_who_says_how_many_heaps_there_are_is_obeyed(tmp_path: os.PathLike[str]) -> None:
    assert _heaps(tmp_path, {"MALLOC_ARENA_MAX": "1"}) == 1
    assert _heaps(tmp_path, {"MALLOC_ARENA_MAX": "5"}) > 3
