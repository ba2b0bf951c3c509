"""A vault that is watched by the real system, and how editors save."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from cogvault import Config, Vault
from cogvault.embedders.hashing import HashingEmbedder
from cogvault.errors import VaultError
from cogvault.indexing.watchdog_source import WatchdogSource
from cogvault.types import Status
from tests.watch.conftest import wait_until


def knows(vault: Vault, word: str, *ids: str) -> bool:
    return sorted(hit.id for hit in vault.search(word, sync=False)) == sorted(ids)


def test_every_way_of_saving_is_found(vault: Vault, folder: Path, tmp_path: Path) -> None:
    names = ("place", "over", "backup", "refill", "gone")
    for name in names:
        (folder / f"{name}.md").write_text(f"# {name}\n\nbefore\n")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "place.md").write_text("# place\n\nquokka in place\n")
        (folder / "over.new").write_text("# over\n\nwombat over it\n")
        (folder / "over.new").replace(folder / "over.md")
        (folder / "backup.md").rename(folder / "backup.md~")
        (folder / "backup.md").write_text("# backup\n\nnumbat anew\n")
        (folder / "backup.md~").unlink()
        (folder / "refill.md").write_bytes(b"")
        (folder / "gone.md").unlink()
        time.sleep(0.3)  # how long the editor takes
        (folder / "refill.md").write_text("# refill\n\nbilby full again\n")
        (folder / "x" / "y").mkdir(parents=True)
        (folder / "x" / "y" / "deep.md").write_text("# deep\n\nkowari in a new tree\n")
        moved = tmp_path / "moved"
        moved.mkdir()
        (moved / "in.md").write_text("# in\n\nquoll moved in\n")
        moved.rename(folder / "moved")
        for word, id in (
            ("quokka", "place.md"), ("wombat", "over.md"), ("numbat", "backup.md"), ("bilby", "refill.md"),
            ("kowari", "x/y/deep.md"), ("quoll", "moved/in.md"),
        ):  # fmt: skip
            wait_until(lambda word=word, id=id: knows(vault, word, id), f"{word} in {id}")  # type: ignore[misc]
        wait_until(lambda: "gone.md" not in {card.id for card in vault.cards()}, "the deleted card leaves")
    assert len(vault.cards()) == 6
    assert watcher.errors == ()


def test_own_reading_wakes_nobody_and_writes_nothing(vault: Vault, folder: Path) -> None:
    card = folder / "n.md"
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        card.write_text("# n\n\nnumbat\n")
        before = card.stat()
        wait_until(lambda: knows(vault, "numbat", "n.md"), "the card")
        wait_until(lambda: not watcher.queued, "an empty queue")
        events = watcher.events
        vault.sync(verify=True)
        vault.read("n.md")
        (folder / "marker.md").write_text("# marker\n")
        # The system tells it after all of the above, as created, modified and closed.
        wait_until(lambda: watcher.last_report and watcher.last_report.added == ("marker.md",), "the marker")
        assert watcher.events - events <= 3
    after = card.stat()
    assert (after.st_mtime_ns, after.st_ino, after.st_size) == (before.st_mtime_ns, before.st_ino, before.st_size)


def test_late_delete_does_not_remove_a_card_that_exists(vault: Vault, folder: Path) -> None:
    (folder / "n.md").write_text("# n\n\nnumbat\n")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "n.md").unlink()
        (folder / "n.md").write_text("# n\n\nbilby\n")
        wait_until(lambda: knows(vault, "bilby", "n.md"), "the new text")
    assert [card.id for card in vault.cards()] == ["n.md"]


def test_many_rapid_changes_all_arrive(vault: Vault, folder: Path) -> None:
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        for turn in range(250):
            for number in range(80):
                (folder / f"{number}.md").write_text(f"# {number}\n\nturn{turn}\n")
        wait_until(lambda: len(vault.search("turn249", k=80, sync=False)) == 80, "the last texts", seconds=60)
        assert watcher.errors == ()


def test_a_change_of_case_only_is_a_move(vault: Vault, folder: Path) -> None:
    (folder / "note.md").write_text("# n\n\nnumbat\n")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "note.md").rename(folder / "Note.md")
        wait_until(lambda: knows(vault, "numbat", "Note.md"), "the new name")
    assert [card.id for card in vault.cards()] == ["Note.md"]


def test_a_new_tag_alone_is_found(vault: Vault, folder: Path) -> None:
    (folder / "n.md").write_text("---\ntags: [old]\n---\nnumbat\n")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "n.md").write_text("---\ntags: [old, new]\n---\nnumbat\n")
        wait_until(lambda: vault.search("numbat", tags="new", sync=False), "the tag")


def test_edits_reach_vectors_too(folder: Path, tmp_path: Path) -> None:
    config = Config(index_dir=tmp_path / "index", rankers=("semantic",))
    with Vault(folder, config, embedder=HashingEmbedder()) as vault, vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        (folder / "n.md").write_text("# n\n\nnumbats sleep in hollow logs\n")
        wait_until(lambda: vault.search("a numbat sleeping in a log", sync=False), "the vector")
        assert vault.status().pending == 0


def test_a_vault_that_goes_and_returns_keeps_its_index_and_is_watched_again(vault: Vault, folder: Path) -> None:
    (folder / "n.md").write_text("# n\n\nnumbat\n")
    away = folder.with_name("away")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        folder.rename(away)
        wait_until(lambda: watcher.status is Status.FAILED, "it is missed")
        assert "does not exist" in watcher.reason
        assert vault.status().status is Status.STALE
        assert knows(vault, "numbat", "n.md")
        away.rename(folder)
        wait_until(lambda: watcher.status is Status.OK, "it is back")
        (folder / "m.md").write_text("# m\n\nbilby\n")
        wait_until(lambda: knows(vault, "bilby", "m.md"), "an edit afterwards")
        assert watcher.mode == "events"
    assert vault.status().status is Status.OK


def test_a_vault_is_watched_once(vault: Vault) -> None:
    with vault.watch(), pytest.raises(VaultError, match="watched already"):
        vault.watch()
    with vault.watch() as watcher:
        assert watcher.is_running


def test_changes_are_iterated_until_stopped(vault: Vault, folder: Path) -> None:
    stop, seen = threading.Event(), []
    for report in vault.changes(stop):
        seen.append(report.added)
        if len(seen) == 1:
            (folder / "n.md").write_text("# n\n")
        else:
            stop.set()
    assert seen == [(), ("n.md",)]


def test_status_tells_why_a_vault_is_polled(vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(WatchdogSource, "start", refuse)
    (folder / "n.md").write_text("# n\n")
    with vault.watch() as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        status = vault.status()
        assert (watcher.mode, status.status) == ("polling", Status.DEGRADED)
        assert os.strerror(28) in status.reason
        (folder / "m.md").write_text("# m\n\nbilby\n")
        wait_until(lambda: knows(vault, "bilby", "m.md"), "the poll")
    assert vault.status().status is Status.OK


def test_closing_the_vault_ends_its_watcher(vault: Vault) -> None:
    with vault.watch() as watcher:
        vault.close()
        assert not watcher.is_running
