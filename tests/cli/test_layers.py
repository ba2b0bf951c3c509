"""``cogvault layers``."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from cogvault.types import CardLayers
from cogvault_cli.views.layers import print_layers
from tests.cli.conftest import Run, document


def test_prints_abstract_and_overview_of_a_card(run: Run, vault: Path) -> None:
    result = run("layers", "project_queue.md", "--tenant", vault)
    assert result.exit_code == 0
    assert "The job queue moved from Redis into a table." in result.stdout


def test_without_a_path_the_vault_is_told(run: Run, vault: Path) -> None:
    shown = document(run("layers", "--tenant", vault, "--json"))
    assert (shown["status"], shown["id"]) == ("ok", "")
    assert "## project_queue.md" in shown["overview"]
    assert shown["abstract"]


def test_a_folder_is_told(run: Run, vault: Path) -> None:
    (vault / "user").mkdir()
    (vault / "user" / "goals.md").write_text("Learn to sail.", encoding="utf-8")
    shown = document(run("layers", "user/", "--recursive", "--tenant", vault, "--json"))
    assert "Learn to sail." in shown["abstract"]


@pytest.mark.parametrize("path", ["nothing.md", "../memory"])
def test_an_unknown_path_is_an_error(path: str, run: Run, vault: Path) -> None:
    result = run("layers", path, "--tenant", vault)
    assert result.exit_code == 3
    assert "no such card or folder" in result.stderr


def test_layers_are_exported_as_files_and_edits_are_kept(run: Run, vault: Path) -> None:
    result = run("layers", "--export", "--tenant", vault)
    assert (result.exit_code, result.stdout) == (0, "2 written, 0 unchanged, 0 removed\n")
    file = vault / ".abstract.md"
    file.write_text("What I think of it.", encoding="utf-8")
    assert document(run("layers", "--export", "--tenant", vault, "--json"))["outdated"] == [".abstract.md"]
    assert "edited by a person, kept: .abstract.md" in run("layers", "--import", "--tenant", vault).stdout
    assert document(run("layers", "--tenant", vault, "--json"))["abstract"] == "What I think of it."


def test_export_is_for_the_whole_vault(run: Run, vault: Path) -> None:
    assert run("layers", "user", "--export", "--tenant", vault).exit_code == 2


def test_on_a_terminal_it_has_headings() -> None:
    console = Console(width=60, force_terminal=True, color_system=None)
    with console.capture() as capture:
        print_layers(console, "user", CardLayers("Short.", ""))
    assert capture.get() == "user\n\nabstract\nShort." + " " * 54 + "\n\noverview  nothing to tell\n"
