"""The three distributions: one version, and wheels that hold what they should and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import cogvault

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = {"cogvault": ROOT, "cogvault-cli": ROOT / "cogvault_cli", "cogvault-mcp": ROOT / "cogvault_mcp"}


def metadata(folder: Path) -> dict[str, dict[str, object]]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_version_is_the_one_literal(name: str) -> None:
    project = metadata(DISTRIBUTIONS[name])["project"]
    assert project["name"] == name
    assert project["dynamic"] == ["version"]
    assert version(name) == cogvault.__version__


@pytest.mark.parametrize("name", ["cogvault-cli", "cogvault-mcp"])
def test_adapters_need_the_library_of_their_own_version(name: str) -> None:
    """Package indexes know an earlier cogvault, of another shape and a higher version."""
    found = metadata(DISTRIBUTIONS[name])["project"]
    needs = [*found["dependencies"], *found["optional-dependencies"]["bundled"]]  # type: ignore[misc,index]
    ours = [need for need in needs if need.startswith("cogvault")]
    assert ours == [f"cogvault=={cogvault.__version__}", f"cogvault[bundled]=={cogvault.__version__}"]


def test_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(cogvault.__version__)}\]", changelog, re.MULTILINE)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Names of the files in each wheel."""
    names = {}
    for name, folder in DISTRIBUTIONS.items():
        out = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        with zipfile.ZipFile(next(out.glob("*.whl"))) as wheel:
            names[name] = [entry for entry in wheel.namelist() if ".dist-info/" not in entry]
    return names


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_wheel_holds_its_typed_package_only(name: str, wheels: dict[str, list[str]]) -> None:
    package = name.replace("-", "_")
    assert {entry.split("/")[0] for entry in wheels[name]} == {package}
    assert f"{package}/py.typed" in wheels[name]
    assert not [entry for entry in wheels[name] if entry.endswith(".pyc")]


def test_wheel_of_the_library_holds_every_module(wheels: dict[str, list[str]]) -> None:
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "cogvault").rglob("*.py")}
    assert modules == {entry for entry in wheels["cogvault"] if entry.endswith(".py")}


def test_wheel_of_the_command_line_ships_the_example_vault(wheels: dict[str, list[str]]) -> None:
    cards = {path.name for path in (ROOT / "examples" / "memory").glob("*.md")}
    shipped = {Path(entry).name for entry in wheels["cogvault-cli"] if "/example_vault/" in entry}
    assert shipped == cards
