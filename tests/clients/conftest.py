"""The clients that ``make clients`` installs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

BIN = Path(__file__).parent / "node_modules" / ".bin"


@pytest.fixture
def programs() -> Path:
    """Folder of the clients' programs."""
    if not (BIN / "node").exists():
        pytest.skip("the clients are not installed: `make clients` (needs npm)")
    return BIN


@pytest.fixture
def user(tmp_path: Path, programs: Path) -> Mapping[str, str]:
    """Environment of a user with a home of their own, who has cogvault and the clients on the path."""
    home = tmp_path / "home"
    home.mkdir()
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    folders = {f"COGVAULT_{name}_DIR": str(home / name.lower()) for name in ("CACHE", "INDEX", "RUNTIME", "STATE")}
    return {"HOME": str(home), "PATH": path, "COGVAULT_MODEL": "none", "LANG": "C.UTF-8", **folders}
