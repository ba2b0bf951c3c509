"""What all tests share: nothing of this machine's user is read or written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No test judges by the clock, and this machine may be busy with others.
settings.register_profile("cogvault", deadline=None)
settings.load_profile("cogvault")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def own_user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Cache and state folders of this run, shared by its workers so that a model is converted once."""
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "user"
    with pytest.MonkeyPatch.context() as patch:
        for variable in [name for name in os.environ if name.startswith("COGVAULT_")]:
            if variable != "COGVAULT_BENCH_DATA":
                patch.delenv(variable)
        for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        patch.setenv("COGVAULT_RUNTIME_DIR", str(home / "runtime"))  # the daemon of this machine's user is not asked
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return ROOT


@pytest.fixture
def example_vault(tmp_path: Path) -> Path:
    """A copy of the example vault that a test may change."""
    return Path(shutil.copytree(ROOT / "examples" / "memory", tmp_path / "memory"))


@pytest.fixture(scope="session")
def latin1(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a user whose locale is Latin-1, which Python takes for the names of files."""
    if shutil.which("localedef") is None:
        pytest.skip("localedef, which makes a locale, is not installed")
    folder = tmp_path_factory.mktemp("locales")
    name = "en_US.ISO-8859-1"
    command = ["localedef", "-i", "en_US", "-f", "ISO-8859-1", str(folder / name)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this system has no sources of locales")
    return {"LOCPATH": str(folder), "LC_ALL": name, "PYTHONUTF8": "0"}
