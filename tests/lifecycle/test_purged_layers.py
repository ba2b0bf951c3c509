"""What is purged is quoted by no exported abstract or overview; a person's own text stays and is named."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.lifecycle.conftest import Desk

WORD = "Zebraword"
EXPORTED = (".abstract.md", ".overview.md", "f/.abstract.md", "f/.overview.md", "g/.abstract.md", "g/.overview.md")


@pytest.fixture
def exported(desk: Desk) -> Desk:
    desk.write("f/a.md", f"{WORD} is the unique alpha of the team.\n")
    desk.write("f/b.md", "Beta is another card of this folder.\n")
    desk.write("g/c.md", "Gamma is elsewhere.\n")
    desk.vault.layers.export()
    assert WORD in desk.read("f/.abstract.md") + desk.read("f/.overview.md")
    return desk


def quoting(desk: Desk) -> set[str]:
    return {name for name, data in desk.files().items() if WORD.encode() in data}


def test_exported_layers_are_made_anew_without_the_purged_card(exported: Desk) -> None:
    result = exported.vault.forget("f/a.md", purge=True)
    assert result.problems == ()
    assert quoting(exported) == set()
    assert set(EXPORTED) < set(exported.files())
    assert "Beta" in exported.read("f/.abstract.md")


def test_those_of_a_folder_without_cards_go(exported: Desk) -> None:
    exported.vault.forget("f/b.md", purge=True)
    exported.vault.forget("f/a.md", purge=True)
    assert quoting(exported) == set()
    assert "f/.abstract.md" not in exported.files()


def test_what_was_exported_before_a_move_goes_too(exported: Desk) -> None:
    exported.vault.move("f/a.md", "g/a.md")
    exported.vault.forget("g/a.md", purge=True)
    assert quoting(exported) == set()


def test_purging_from_the_archive_cleans_what_was_exported_before(exported: Desk) -> None:
    exported.vault.forget("f/a.md")
    assert "f/.abstract.md" in quoting(exported)
    assert exported.vault.purge("f/a.md").problems == ()
    assert quoting(exported) == set()


def test_a_persons_text_above_the_card_stays_and_is_named(exported: Desk) -> None:
    for name in ("f/.overview.md", "g/.overview.md"):
        exported.write(name, f"I know {WORD}.\n" + exported.read(name))
    mine = exported.read("f/.overview.md")
    [problem] = exported.vault.forget("f/a.md", purge=True).problems
    assert (problem.path, problem.code) == ("f/.overview.md", "layer-edited")
    assert exported.read("f/.overview.md") == mine
    assert quoting(exported) == {"f/.overview.md", "g/.overview.md"}


def test_a_file_that_cannot_be_made_anew_is_named(exported: Desk, tmp_path: Path) -> None:
    file = exported.root / "f/.abstract.md"
    (tmp_path / "else.md").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(tmp_path / "else.md")
    [problem] = exported.vault.forget("f/a.md", purge=True).problems
    assert (problem.path, problem.code) == ("f/.abstract.md", "layer-file")


def test_nothing_is_exported_by_a_purge(desk: Desk) -> None:
    desk.write("a.md", "alpha\n")
    desk.write("b.md", "beta\n")
    desk.vault.forget("a.md", purge=True)
    assert set(desk.files()) == {"b.md"}


def test_a_sweep_that_deletes_names_a_persons_text_too(exported: Desk) -> None:
    exported.write(".abstract.md", f"I know {WORD}.\n")
    exported.now += timedelta(days=4000)
    vault = exported.open(forgetting_archive_before_delete=False)
    report = vault.sweep(apply=True, purge=True)
    assert {item.action for item in report.weak} == {"purged"}
    assert [(problem.path, problem.code) for problem in report.problems] == [(".abstract.md", "layer-edited")]
    assert quoting(exported) == {".abstract.md"}
