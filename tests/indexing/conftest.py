from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_NOBODY = 65534


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def plain_user_vault() -> Iterator[Path]:
    """A vault whose owner has no special rights, and runs the test: permissions do not bind root."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    (folder / "vault").mkdir()
    try:
        yield folder / "vault"
    finally:
        if root:
            os.seteuid(0)
        for path in sorted(folder.rglob("*")):
            path.chmod(0o700)
        shutil.rmtree(folder)
