"""Processes may look at one vault with different settings: each answers by its own, whoever wrote the index last."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.errors import CogvaultError
from cogvault.indexing.keyword import carry_out
from cogvault.indexing.made_with import MadeWith
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids

_LONG = 3_600.0


@pytest.fixture
def deep(shelf: Shelf) -> Vault:
    """A vault that walks folders, whose last look at the files is good for long."""
    shelf.write("wombat.md", "# Wombat\n\nA wombat digs.\n")
    shelf.write("burrows/numbat.md", "# Numbat\n\nA numbat eats termites.\n")
    vault = shelf.open(recursive=True, refresh_seconds=_LONG)
    assert ids(vault.search("numbat termites")) == ["burrows/numbat.md"]
    return vault


def test_cards_that_others_leave_out_are_found(shelf: Shelf, deep: Vault) -> None:
    shallow = shelf.open(recursive=False)
    assert ids(shallow.search("numbat termites")) == []
    found = deep.search("numbat termites")
    assert (found.status, ids(found)) == (Status.OK, ["burrows/numbat.md"])
    assert ids(shallow.search("numbat termites")) == []


def test_cards_that_only_others_take_are_not_told(shelf: Shelf, deep: Vault) -> None:
    careful = shelf.open(recursive=True, ignore=("numbat.md",), refresh_seconds=_LONG)
    assert ids(careful.search("numbat termites")) == []
    assert ids(deep.search("numbat termites")) == ["burrows/numbat.md"]
    assert [card.id for card in careful.list()] == ["wombat.md"]
    assert deep.layers("burrows/numbat.md").abstract


def test_a_watched_vault_does_not_wait_for_its_next_look(shelf: Shelf, deep: Vault) -> None:
    with deep.watch() as watcher:
        assert watcher.wait(10)
        shelf.open(recursive=False).sync()
        assert ids(deep.search("numbat termites")) == ["burrows/numbat.md"]


def test_who_was_killed_in_the_middle_left_no_trace(shelf: Shelf, deep: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    shallow = shelf.open(recursive=False)

    def killed(*arguments: object) -> None:
        carry_out(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cogvault.indexing.sync.carry_out", killed)
        with pytest.raises(KeyboardInterrupt):
            shallow.sync()
    assert ids(deep.search("numbat termites")) == ["burrows/numbat.md"]


def test_what_others_wrote_by_path_is_told_by_own_settings(shelf: Shelf) -> None:
    shelf.write("wombat.md", "# Wombat\n\nA wombat digs.\n")
    shallow = shelf.open(recursive=False, refresh_seconds=_LONG)
    assert ids(shallow.search("wombat")) == ["wombat.md"]
    deep = shelf.open(recursive=True, refresh_seconds=_LONG)
    deep.search("wombat")
    made = deep.record("A quokka smiles.", title="Quokka", to="burrows/")
    assert ids(deep.search("quokka smiles")) == [made.id]
    assert ids(shallow.search("quokka smiles")) == []


def test_the_same_settings_rely_on_each_others_looks(
    shelf: Shelf, deep: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = shelf.open(recursive=True, refresh_seconds=_LONG)
    twin.search("numbat")

    def refused(*_: object, **__: object) -> None:
        raise CogvaultError("nobody has to look")

    monkeypatch.setattr("cogvault.indexing.sync.scan", refused)
    for vault in (deep, twin, deep):
        found = vault.search("numbat termites")
        assert (found.status, ids(found)) == (Status.OK, ["burrows/numbat.md"])


def test_an_index_that_says_nothing_is_taken_for_ones_own(tmp_path: Path) -> None:
    mark, other = MadeWith(tmp_path, "deep"), MadeWith(tmp_path, "shallow")
    assert (mark.is_kept, mark.is_others) == (False, False)
    mark.keep()
    assert (mark.is_kept, mark.is_others) == (True, False)
    assert (other.is_kept, other.is_others) == (False, True)
    other.begin()
    assert (mark.is_others, other.is_others) == (True, True)
    other.keep()
    assert (mark.is_others, other.is_others) == (True, False)


def test_an_index_that_no_other_process_has_is_ones_own(tmp_path: Path) -> None:
    mark = MadeWith(tmp_path, "deep", is_shared=False)
    mark.begin()
    mark.keep()
    assert (mark.is_kept, mark.is_others, list(tmp_path.iterdir())) == (True, False, [])


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    mark = MadeWith(tmp_path / "missing", "deep")
    mark.begin()
    mark.keep()
    assert (mark.is_kept, mark.is_others) == (False, False)
