"""What happens to cards on disk is what searches answer from: edits, moves, deletions, lost folders."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from cogvault import Vault
from cogvault.embedders import HashingEmbedder
from cogvault.errors import VaultError
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids


def test_an_edit_is_found_by_the_next_search(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    assert shelf.found("wombat") == ["a.md"]
    shelf.write("a.md", "quokka\n")
    assert (shelf.found("quokka"), shelf.found("wombat")) == (["a.md"], [])


def test_a_new_card_and_a_deleted_one_are_seen_by_the_next_search(shelf: Shelf) -> None:
    assert shelf.vault.search("wombat").status is Status.EMPTY
    file = shelf.write("a.md", "wombat\n")
    assert shelf.found("wombat") == ["a.md"]
    file.unlink()
    hits = shelf.vault.search("wombat")
    assert (list(hits), hits.status) == ([], Status.EMPTY)
    assert list(shelf.vault.cards()) == []


def test_changed_files_are_looked_for_at_most_every_refresh_seconds(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("cogvault.engine.time.monotonic", lambda: now)
    vault = shelf.open(refresh_seconds=10)
    file = shelf.write("a.md", "wombat\n")
    assert ids(vault.search("wombat")) == ["a.md"]
    shelf.write("b.md", "wombat\n")
    file.unlink()
    now = 109.0
    assert ids(vault.search("wombat")) == ["a.md"]
    assert ids(vault.search("wombat", sync=False)) == ["a.md"]
    now = 110.5
    assert ids(vault.search("wombat")) == ["b.md"]


def test_a_search_that_may_not_sync_answers_from_the_index(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    assert list(shelf.vault.search("wombat", sync=False)) == []
    shelf.vault.sync()
    shelf.write("a.md", "quokka\n")
    assert ids(shelf.vault.search("wombat", sync=False)) == ["a.md"]


def test_a_metadata_edit_alone_changes_what_filters_find(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntags: [x]\n---\nwombat\n")
    assert shelf.found("wombat", tags="new") == []
    shelf.write("a.md", "---\ntags: [x, new]\n---\nwombat\n")
    assert shelf.found("wombat", tags="new") == ["a.md"]


def test_an_edit_by_hand_reaches_vectors_as_well(shelf: Shelf) -> None:
    vault = shelf.open(embedder=HashingEmbedder(), rankers=("semantic",), thresholds=(0.1,))
    shelf.write("a.md", "# One\n\nthe deployment pipeline is slow\n")
    shelf.write("b.md", "# Two\n\nthe coffee machine is broken\n")
    vault.sync()
    shelf.write("b.md", "# Two\n\nmarsupials digging burrows\n")
    hits = vault.search("marsupial burrow digger")
    assert hits[0].id == "b.md"
    assert vault.status().pending == 0


def test_an_edit_that_hides_its_size_and_time_is_found(shelf: Shelf) -> None:
    file = shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    status = file.stat()
    shelf.write("a.md", "quokka\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert shelf.found("quokka") == ["a.md"]


def test_a_truncated_card_keeps_its_place_until_it_is_filled_again(shelf: Shelf) -> None:
    shelf.write("wombat.md", "first text\n")
    assert shelf.found("first") == ["wombat.md"]
    shelf.write("wombat.md", b"")
    assert (shelf.found("first"), shelf.found("wombat")) == ([], ["wombat.md"])
    shelf.write("wombat.md", "second text\n")
    assert shelf.found("second") == ["wombat.md"]


def test_a_renamed_card_is_found_by_its_new_name_only(shelf: Shelf) -> None:
    shelf.write("sub/wombat.md", "burrows\n")
    shelf.vault.sync()
    (shelf.root / "sub" / "wombat.md").rename(shelf.root / "quokka.md")
    report = shelf.vault.sync()
    assert report.moved == (("sub/wombat.md", "quokka.md"),)
    assert shelf.found("burrows") == shelf.found("quokka") == ["quokka.md"]
    assert shelf.found("wombat") == []
    assert shelf.found("burrows", path="sub") == []


def test_unequal_files_are_no_move_whatever_their_stamps(shelf: Shelf) -> None:
    old = shelf.write("a.md", "wombat\n")
    os.utime(old, (1_000_000, 1_000_000))
    shelf.vault.sync()
    old.unlink()
    new = shelf.write("b.md", "quokka\n")
    os.utime(new, (1_000_000, 1_000_000))
    report = shelf.vault.sync()
    assert (report.moved, report.added, report.removed) == ((), ("b.md",), ("a.md",))


def test_a_card_deleted_while_nobody_looked_uses_up_no_place(shelf: Shelf) -> None:
    shelf.write("gone.md", "---\ntitle: wombat burrow\n---\nwombat burrow wombat burrow\n")
    shelf.write("live.md", "a longer text about one wombat in its burrow, and more\n")
    shelf.write("link.md", "quokka [[gone]]\n")
    first = shelf.open(embedder=HashingEmbedder())
    first.sync()
    first.close()
    (shelf.root / "gone.md").unlink()
    second = shelf.open(embedder=HashingEmbedder())
    assert ids(second.search("wombat burrow", k=1)) == ["live.md"]
    assert "gone.md" not in ids(second.search("gone", k=10, min_score=0.0))
    assert second.search("quokka")[0].related == ()
    for ranker in ("keyword", "semantic", "title"):
        alone = shelf.open(embedder=HashingEmbedder(), rankers=(ranker,))
        assert "gone.md" not in ids(alone.search("wombat burrow", k=50, min_score=0.0))


def test_a_vanished_folder_answers_stale_and_keeps_its_index(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "elsewhere")
    hits = shelf.vault.search("wombat")
    assert (ids(hits), hits.status) == (["a.md"], Status.STALE)
    assert hits.reason
    assert hits.hint
    assert shelf.vault.status().status is Status.STALE
    with pytest.raises(VaultError):
        shelf.vault.sync()
    with pytest.raises(VaultError):
        shelf.vault.read("a.md")
    (tmp_path / "elsewhere").rename(shelf.root)
    hits = shelf.vault.search("wombat")
    assert (ids(hits), hits.status) == (["a.md"], Status.OK)
    assert shelf.vault.status().status is Status.OK


def test_an_emptied_folder_is_an_empty_vault(shelf: Shelf) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    (shelf.root / "a.md").unlink()
    assert shelf.vault.sync().removed == ("a.md",)
    assert shelf.vault.status().status is Status.EMPTY


def test_vaults_never_share_an_index(shelf: Shelf, tmp_path: Path) -> None:
    twin = tmp_path / "other" / "vault"
    twin.mkdir(parents=True)
    (twin / "a.md").write_text("quokka\n")
    shelf.write("a.md", "wombat\n")
    one, two = shelf.vault, shelf.open(twin)
    assert ids(one.search("wombat")) == ids(two.search("quokka")) == ["a.md"]
    assert list(one.search("quokka")) == list(two.search("wombat")) == []
    assert one.status().index != two.status().index
    link = tmp_path / "link"
    link.symlink_to(twin, target_is_directory=True)
    assert shelf.open(link).status().index == two.status().index


def test_a_vault_in_a_vault_is_a_vault_of_its_own(shelf: Shelf) -> None:
    shelf.write("sub/a.md", "wombat\n")
    inner = shelf.open(shelf.root / "sub")
    assert ids(inner.search("wombat")) == ["a.md"]
    assert shelf.found("wombat") == ["sub/a.md"]
    shutil.rmtree(shelf.root / "sub")
    assert shelf.found("wombat") == []
    assert inner.search("wombat").status is Status.STALE


def test_an_empty_folder_in_the_place_of_another_is_no_empty_vault(shelf: Shelf, tmp_path: Path) -> None:
    # As when the disk with the cards is not mounted.
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "mounted")
    shelf.root.mkdir()
    hits = shelf.vault.search("wombat")
    assert (ids(hits), hits.status) == (["a.md"], Status.STALE)
    assert "another one than before" in hits.reason
    with pytest.raises(VaultError, match="another one than before") as refusal:
        shelf.open().sync()
    assert "verify" in (refusal.value.hint or "")
    shelf.root.rmdir()
    (tmp_path / "mounted").rename(shelf.root)
    assert shelf.vault.search("wombat").status is Status.OK


def _write_something(vault: Vault, way: str) -> None:
    if way == "record":
        vault.record("A quokka.")
    elif way == "record into a folder":
        vault.record("A quokka.", to="cogvault://user/ana/")
    else:
        vault.session("standup").append("Ana", "A quokka.")


@pytest.mark.parametrize("way", ["record", "record into a folder", "append"])
@pytest.mark.parametrize("there", ["nothing", "an empty folder"])
def test_nothing_is_written_where_the_vault_is_away(shelf: Shelf, tmp_path: Path, way: str, there: str) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "mounted")
    if there != "nothing":
        shelf.root.mkdir()
    with pytest.raises(VaultError, match=r"does not exist|another one than before"):
        _write_something(shelf.vault, way)
    assert shelf.root.exists() == (there != "nothing")
    if there != "nothing":
        assert not list(shelf.root.iterdir())
        shelf.root.rmdir()
    (tmp_path / "mounted").rename(shelf.root)
    assert shelf.found("wombat") == ["a.md"]
    _write_something(shelf.vault, way)
    assert shelf.found("quokka")


def test_nothing_is_written_where_a_vault_is_away_that_was_never_indexed(shelf: Shelf, tmp_path: Path) -> None:
    vault = shelf.vault
    shelf.root.rename(tmp_path / "mounted")
    with pytest.raises(VaultError, match="does not exist"):
        vault.record("A quokka.")
    assert not shelf.root.exists()


ASKS: dict[str, Callable[[Vault], object]] = {
    "read": lambda vault: vault.read("a.md"),
    "list": lambda vault: vault.list(),
    "tree": lambda vault: vault.tree(),
    "cards": lambda vault: vault.cards(),
    "layers": lambda vault: vault.layers(),
    "layers of a card": lambda vault: vault.layers("a.md"),
    "export": lambda vault: vault.layers.export(),
    "history": lambda vault: vault.history("a.md"),
    "strengths": lambda vault: vault.strengths(),
    "archived": lambda vault: vault.archived(),
    "restore": lambda vault: vault.restore("gone.md"),
    "purge": lambda vault: vault.purge("gone.md"),
    "sessions": lambda vault: vault.sessions(),
    "turns": lambda vault: vault.session("standup").turns(),
}


@pytest.mark.parametrize("ask", [ask for name, ask in ASKS.items() if name != "cards"])
def test_what_has_no_status_is_refused_while_the_vault_is_away(
    shelf: Shelf, tmp_path: Path, ask: Callable[[Vault], object]
) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.write("gone.md", "quokka\n")
    vault = shelf.vault
    vault.session("standup").append("Ana", "Hello.")
    vault.forget("gone.md")
    vault.sync()
    ask(vault) if ask is not ASKS["purge"] else None
    shelf.root.rename(tmp_path / "mounted")
    with pytest.raises(VaultError, match="the vault's folder does not exist"):
        ask(vault)
    assert not shelf.root.exists()


@pytest.mark.parametrize("name", ["list", "tree", "cards", "layers", "history", "strengths"])
def test_what_has_no_status_waits_for_the_first_index(shelf: Shelf, name: str) -> None:
    for number in range(3):
        shelf.write(f"{number}.md", f"wombat {number}\n")
    shelf.write("a.md", "wombat\n")
    vault = shelf.open(refresh_seconds=3600.0, lock_timeout_seconds=60.0)
    folder = Path(vault.status().index)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "sync.lock", thread_local=False)  # as of another process that makes the index
    lock.acquire()
    release = threading.Timer(2.0, lock.release)
    release.start()
    try:
        vault.search("wombat")  # does not wait, and says so
        answer = ASKS[name](vault)
    finally:
        release.join()
    assert answer
    if name in ("list", "cards"):
        assert len(answer) == 4  # type: ignore[arg-type]


def test_a_vault_that_was_put_back_from_a_copy_is_written_into(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", shelf.root)
    shelf.vault.record("A quokka.", to="b.md")
    assert shelf.found("quokka") == ["b.md"]
    assert shelf.found("wombat") == ["a.md"]


def test_other_cards_in_another_folder_are_no_reason_to_forget_either(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "mounted")
    shelf.write("new.md", "quokka\n")
    assert shelf.vault.search("wombat").status is Status.STALE
    assert [card.id for card in shelf.vault.cards()] == ["a.md"]


def test_cards_that_are_gone_with_their_folder_leave_when_that_is_asked_for(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "mounted")
    shelf.root.mkdir()
    assert shelf.vault.sync(verify=True).removed == ("a.md",)
    assert shelf.vault.search("wombat").status is Status.EMPTY
    assert shelf.vault.sync().removed == ()


def test_a_copy_of_the_folder_in_its_place_is_the_same_vault(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "wombat\n")
    shelf.write("b.md", "quokka\n")
    shelf.vault.sync()
    shelf.root.rename(tmp_path / "old")
    shutil.copytree(tmp_path / "old", shelf.root)
    (shelf.root / "a.md").rename(shelf.root / "c.md")
    (shelf.root / "b.md").unlink()
    report = shelf.vault.sync()
    assert (report.moved, report.removed) == ((("a.md", "c.md"),), ("b.md",))
