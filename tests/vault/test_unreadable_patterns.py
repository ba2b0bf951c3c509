"""Patterns that cannot be read may mean any card: until they can, none is added to what recall tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.errors import CardError
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids


@pytest.fixture
def patterns(shelf: Shelf) -> Path:
    """The ignore file of a vault with one indexed card; for now it is a folder, which nobody can read."""
    shelf.write("a.md", "The wombat digs.\n")
    shelf.vault.sync()
    path = shelf.root / ".cogvaultignore"
    path.mkdir()
    return path


def test_no_new_card_is_found_and_the_answer_says_why(shelf: Shelf, patterns: Path) -> None:
    shelf.write("secret.md", "The quokka smiles.\n")
    hits = shelf.vault.search("quokka")
    assert (ids(hits), hits.status) == ([], Status.DEGRADED)
    status = shelf.vault.status()
    assert (status.cards, status.status) == (1, Status.DEGRADED)
    [problem] = status.problems
    assert (problem.path, "no new card" in problem.message) == (patterns.name, True)
    patterns.rmdir()
    patterns.write_text("secret.md\n")
    assert (ids(shelf.vault.search("quokka")), shelf.vault.search("wombat").status) == ([], Status.OK)
    patterns.write_text("")
    assert shelf.found("quokka") == ["secret.md"]


def test_an_indexed_card_is_followed_all_the_same(shelf: Shelf, patterns: Path) -> None:
    file = shelf.write("a.md", "The wombat sleeps until noon.\n")
    assert shelf.found("noon") == ["a.md"]
    shelf.vault.update("a.md", body="The wombat wakes.\n")
    assert shelf.found("wakes") == ["a.md"]
    file.unlink()
    assert shelf.found("wombat") == []


def test_what_would_not_be_found_is_not_written(shelf: Shelf, patterns: Path) -> None:
    with pytest.raises(CardError, match="cannot be read counts for all"):
        shelf.vault.record("The dingo howls.\n")
    with pytest.raises(CardError, match="cannot be read counts for all"):
        shelf.vault.session("s").append("Ana", "The dingo howls.")
    assert sorted(path.name for path in shelf.root.iterdir()) == [".cogvaultignore", "a.md"]


def test_what_is_not_indexed_is_not_read_either(shelf: Shelf, patterns: Path) -> None:
    shelf.write("secret.md", "The quokka smiles.\n")
    assert [card.id for card in shelf.vault.cards()] == ["a.md"]
    with pytest.raises(Exception, match="names no card"):
        shelf.vault.read("secret.md")
