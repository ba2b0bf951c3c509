from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cogvault import Config, Vault


def wait_until(holds: Callable[[], object], what: str, seconds: float = 20.0) -> None:
    """Wait for a condition; the bound is only there so that a broken test ends."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"did not happen within {seconds:.0f} s: {what}")
        time.sleep(0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "vault"
    path.mkdir()
    return path.resolve()


@pytest.fixture
def vault(folder: Path, tmp_path: Path) -> Iterator[Vault]:
    with Vault(folder, Config(model="none", recursive=True, index_dir=tmp_path / "index")) as vault:
        yield vault
