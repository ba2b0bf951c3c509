"""Sessions, uses and forgetting of a vault as a whole: from files to answers and back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cogvault import Vault
from cogvault.errors import ConfigError, PathError
from cogvault.types import Action, Turn, Verdict
from tests.vault.conftest import Shelf, ids

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path.resolve())
    yield shelf
    shelf.close()


def old(shelf: Shelf, name: str, text: str, days: int = 400) -> Path:
    """A card that was written so long ago."""
    path = shelf.write(name, text)
    seconds = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (seconds, seconds))
    return path


def opened(shelf: Shelf, tmp_path: Path, **settings: Any) -> Vault:
    return shelf.open(clock=lambda: NOW, state_dir=tmp_path / "state", **settings)


def uses(vault: Vault) -> dict[str, int]:
    return {card.id: card.uses for card in vault.strengths()}


def test_a_turn_is_found_by_the_next_search_though_the_vault_is_flat(shelf: Shelf, tmp_path: Path) -> None:
    vault = opened(shelf, tmp_path, recursive=False, refresh_seconds=3600)
    assert ids(vault.search("migration")) == []
    session = vault.session("standup")
    session.append("Ana", "The migration is done.", NOW)
    [hit] = vault.search("migration", path=session.folder)
    assert (hit.speaker, hit.at, hit.type) == ("Ana", NOW, "session")
    session.append_many([Turn("Bob", "Then drop the replica.", NOW)])
    [hit] = vault.search("drop the replica")
    assert hit.speaker == "Bob"


def test_closing_a_session_gives_its_layers(shelf: Shelf, tmp_path: Path) -> None:
    vault = opened(shelf, tmp_path)
    with vault.session("standup") as session:
        session.append("Ana", "We decided to drop Redis in May.", NOW)
    assert "drop Redis" in session.close().abstract
    assert vault.layers("session/standup") == session.close()
    assert vault.sessions() == ["standup"]


def test_an_answer_and_a_read_count_once_for_each_card(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "The queue moved to Postgres.\n\nThe queue was on Redis.")
    shelf.write("b.md", "Nothing of the kind.")
    vault = opened(shelf, tmp_path, hits_per_card=0)
    assert len(vault.search("queue")) >= 1
    assert uses(vault) == {"a.md": 1, "b.md": 0}
    vault.read("a.md")
    assert uses(vault) == {"a.md": 2, "b.md": 0}
    assert vault.strength("a.md").strength == 1.0
    with pytest.raises(PathError):
        vault.strength("c.md")


def test_looking_at_strengths_and_lists_is_no_use(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "Text.")
    vault = opened(shelf, tmp_path)
    vault.cards(), vault.strengths(), vault.sweep(), vault.layers("a.md")
    assert uses(vault) == {"a.md": 0}


def test_uses_go_along_with_a_card_that_is_moved_by_hand_or_by_us(shelf: Shelf, tmp_path: Path) -> None:
    path = shelf.write("a.md", "The queue moved to Postgres.")
    vault = opened(shelf, tmp_path)
    vault.search("queue")
    path.rename(shelf.root / "b.md")
    vault.sync()
    assert uses(vault) == {"b.md": 1}
    vault.move("b.md", "notes/c.md")
    vault.sync()
    assert uses(vault) == {"notes/c.md": 1}


def test_a_sweep_archives_and_what_is_restored_is_the_same_and_stays(shelf: Shelf, tmp_path: Path) -> None:
    path = old(shelf, "notes/old.md", "---\r\ntitle:   Old # comment\r\n---\r\nOld words.\r\n")
    old(shelf, "kept.md", "---\ntype: reference\n---\nEvergreen words.")
    before, times = path.read_bytes(), path.stat().st_mtime_ns
    vault = opened(shelf, tmp_path)
    assert [item.card.id for item in vault.sweep().weak] == ["notes/old.md"]
    assert path.exists()
    assert vault.sweep(apply=True).problems == ()
    assert not path.exists()
    assert "notes/old.md" not in ids(vault.search("old words"))
    vault.restore("notes/old.md")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, times)
    assert vault.sweep(apply=True).weak == ()
    assert ids(vault.search("old words"))[0] == "notes/old.md"


def test_a_card_that_was_pinned_a_moment_ago_stays(shelf: Shelf, tmp_path: Path) -> None:
    """The sweep looks at the files, however short ago a search did."""
    old(shelf, "a.md", "Text.")
    vault = opened(shelf, tmp_path, refresh_seconds=3600)
    vault.search("text")
    old(shelf, "b.md", "---\npinned: true\n---\nText.")
    report = vault.sweep(apply=True)
    assert {item.card.id: item.verdict for item in report.items} == {"a.md": Verdict.STRONG, "b.md": Verdict.PINNED}


def test_deleting_for_good_takes_the_uses_along(shelf: Shelf, tmp_path: Path) -> None:
    old(shelf, "old.md", "Old words.")
    vault = opened(shelf, tmp_path)
    with pytest.raises(ConfigError):
        vault.sweep(apply=True, purge=True)
    vault.read("old.md")
    vault.forget("old.md")
    vault.purge("old.md")
    shelf.write("old.md", "Others.")
    vault.sync()  # the purge looked at the files, and a search does so every ``refresh_seconds`` only
    assert uses(vault) == {"old.md": 0}
    old(shelf, "old.md", "Old words.")
    deleting = opened(shelf, tmp_path, forgetting_archive_before_delete=False)
    assert [item.action for item in deleting.sweep(apply=True, purge=True).weak] == ["purged"]
    assert not list(shelf.root.rglob("*.md"))


def test_a_watcher_archives_by_schedule(shelf: Shelf, tmp_path: Path) -> None:
    old(shelf, "old.md", "Old words.")
    shelf.write("new.md", "New words.")
    vault = opened(shelf, tmp_path, forgetting_enabled=True)
    stop = threading.Event()
    for _ in vault.changes(stop):
        if not (shelf.root / "old.md").exists():
            stop.set()
    assert {path.relative_to(shelf.root).as_posix() for path in shelf.root.rglob("*.md")} == {
        ".archive/old.md",
        "new.md",
    }


def test_a_watcher_archives_nothing_unless_told(shelf: Shelf, tmp_path: Path) -> None:
    path = old(shelf, "old.md", "Old words.")
    vault = opened(shelf, tmp_path)
    stop = threading.Event()
    for _ in vault.changes(stop):
        stop.set()
    assert path.exists()


def test_a_key_to_take_away_may_be_given_as_text(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "---\nn: 1\nimportance: 0.5\n---\nA wombat.\n")
    assert opened(shelf, tmp_path).update("a.md", unset="importance").action is Action.UPDATED
    assert (shelf.root / "a.md").read_text() == "---\nn: 1\n---\nA wombat.\n"
