"""A pipe in the place of any file of a vault is never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cogvault.errors import CardError, ConflictError
from tests.vault.conftest import Shelf, ids

# Opening a pipe that nobody writes into never returns.
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among files"),
    pytest.mark.timeout(30),
]
NOW = datetime(2024, 3, 15, tzinfo=UTC)


def pipe(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("name", [".cogvaultignore", ".gitignore", "sub/.gitignore"])
def test_patterns_in_a_pipe_are_reported(shelf: Shelf, name: str) -> None:
    shelf.write("a.md", "The wombat digs.\n")
    shelf.vault.sync()
    pipe(shelf.root / name)
    vault = shelf.open(use_gitignore=True)
    assert ids(vault.search("wombat")) == ["a.md"]
    assert [(problem.path, problem.code) for problem in vault.status().problems] == [(name, "unreadable")]


def test_a_pipe_that_is_named_as_a_card_is_none(shelf: Shelf) -> None:
    shelf.write("a.md", "The wombat digs.\n")
    pipe(shelf.root / "pipe.md")
    assert ids(shelf.vault.search("wombat")) == ["a.md"]
    written = shelf.vault.record("The dingo howls.\n")
    assert ids(shelf.vault.search("dingo")) == [written.id]
    with pytest.raises(ConflictError):
        shelf.vault.record("The quokka smiles.\n", to="pipe.md")
    with pytest.raises(ConflictError):
        shelf.vault.move("a.md", "pipe.md")


@pytest.mark.parametrize(
    "act", [lambda shelf: shelf.vault.restore("pipe.md"), lambda shelf: shelf.vault.purge("pipe.md")]
)
def test_a_pipe_in_the_archive_is_refused(shelf: Shelf, act: Callable[[Shelf], object]) -> None:
    shelf.write("a.md", "The wombat digs.\n")
    pipe(shelf.root / ".archive/pipe.md")
    with pytest.raises(CardError, match="not a regular file"):
        act(shelf)
    assert (shelf.root / ".archive/pipe.md").is_fifo()


def test_a_pipe_in_a_timeline_is_gone_round(shelf: Shelf) -> None:
    pipe(shelf.root / "session/s/timeline/2024-03-15_001.md")
    session = shelf.vault.session("s")
    session.append(speaker="Ana", text="good morning", at=NOW)
    assert "good morning" in (shelf.root / "session/s/timeline/2024-03-15_002.md").read_text()
    with pytest.raises(CardError, match="not a regular file"):
        session.turns()
