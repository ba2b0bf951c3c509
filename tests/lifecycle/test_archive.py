"""Forgetting and restoring: out of search at once, back byte for byte, and gone for good only when that was said."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.config import state_folder
from cogvault.embedders import CachedEmbedder, HashingEmbedder
from cogvault.errors import CardError, ConflictError, PathError
from cogvault.lifecycle.usage import Usage
from cogvault.types import Action
from tests.lifecycle.conftest import Desk

CARD = b"\xef\xbb\xbf---\r\ntitle: 'W'   # odd\r\n---\r\n\r\nwombat\r\nlone\rend  "


def test_a_forgotten_card_is_out_of_search_and_comes_back_byte_for_byte(desk: Desk) -> None:
    file = desk.write("notes/deep/a.md", CARD)
    file.chmod(0o640)
    os.utime(file, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    desk.write("b.md", "quokka [[a]]\n")
    assert desk.found("wombat") == ["notes/deep/a.md"]
    before = file.stat()
    gone = desk.vault.forget("cogvault://resources/notes/deep/a.md")
    assert (gone.id, gone.action, gone.hash) == ("notes/deep/a.md", Action.ARCHIVED, "")
    assert desk.found("wombat") == []
    assert [card.id for card in desk.vault.list()] == ["b.md"]
    assert sorted(desk.files()) == [".archive/notes/deep/a.md", "b.md"]
    with pytest.raises(PathError):
        desk.vault.read("notes/deep/a.md")
    [kept] = desk.vault.archived()
    assert (kept.id, kept.version, kept.path, kept.size) == (
        "notes/deep/a.md", 1, ".archive/notes/deep/a.md", len(CARD),
    )  # fmt: skip
    back = desk.vault.restore("notes/deep/a.md")
    assert (back.id, back.action) == ("notes/deep/a.md", Action.RESTORED)
    assert back.hash == desk.card("notes/deep/a.md").hash
    after = file.stat()
    assert file.read_bytes() == CARD
    assert (after.st_mtime_ns, after.st_mode, after.st_ino) == (before.st_mtime_ns, before.st_mode, before.st_ino)
    assert desk.found("wombat") == ["notes/deep/a.md"]
    assert sorted(desk.files()) == ["b.md", "notes/deep/a.md"]
    assert not (desk.root / ".archive").exists()
    assert desk.vault.archived() == ()


def test_cards_of_one_id_are_kept_apart_and_the_last_comes_back_first(desk: Desk) -> None:
    for text in ("one\n", "two\n", "three\n"):
        desk.write("n/a.md", text)
        desk.vault.forget("n/a.md")
    desk.write("n/a.2.md", "its own\n")
    desk.vault.forget("n/a.2.md")
    assert [(card.id, card.version) for card in desk.vault.archived()] == [
        ("n/a.2.md", 1), ("n/a.md", 1), ("n/a.md", 2), ("n/a.md", 3),
    ]  # fmt: skip
    assert all(card.path.endswith(".md") for card in desk.vault.archived())
    desk.vault.restore("n/a.md")
    assert desk.read("n/a.md") == "three\n"
    with pytest.raises(ConflictError):
        desk.vault.restore("n/a.md")
    desk.vault.move("n/a.md", "n/latest.md")
    desk.vault.restore("n/a.md", version=1)
    assert desk.read("n/a.md") == "one\n"
    assert [card.version for card in desk.vault.archived() if card.id == "n/a.md"] == [2]
    desk.vault.forget("n/a.md")
    assert [card.version for card in desk.vault.archived() if card.id == "n/a.md"] == [2, 3]


def test_restoring_never_replaces_a_card(desk: Desk) -> None:
    desk.write("Caf\u00e9.md", "old\n")
    desk.vault.forget("Caf\u00e9.md")
    for name in ("Caf\u00e9.md", "Cafe\u0301.md"):
        desk.write(name, "new\n")
        before = desk.files()
        with pytest.raises(ConflictError):
            desk.vault.restore("Caf\u00e9.md")
        assert desk.files() == before
        (desk.root / name).unlink()
    (desk.root / "Caf\u00e9.md").symlink_to("nowhere.md")
    with pytest.raises(ConflictError):
        desk.vault.restore("Caf\u00e9.md")


def test_twins_in_two_normal_forms_are_versions_of_one_name(desk: Desk) -> None:
    composed, decomposed = "Caf\u00e9.md", "Cafe\u0301.md"
    desk.write(composed, "composed\n")
    desk.write(decomposed, "decomposed\n")
    if len(desk.files()) < 2:
        pytest.skip("this disk takes both for one name")
    desk.vault.forget(composed)
    desk.vault.forget(decomposed)
    assert [(card.id, card.version) for card in desk.vault.archived()] == [(composed, 1), (composed, 2)]
    desk.vault.purge(composed, version=1)
    desk.vault.restore(composed)
    assert desk.files() == {decomposed: b"decomposed\n"}


def test_what_is_not_in_the_archive_is_refused(desk: Desk) -> None:
    desk.write("a.md", "x\n")
    for call in (desk.vault.restore, desk.vault.purge):
        for id in ("a.md", "nothing.md", ".archive/a.md", "../a.md", "cogvault://user/a.md", ""):
            with pytest.raises(PathError):
                call(id)
    desk.vault.forget("a.md")
    with pytest.raises(PathError):
        desk.vault.restore("a.md", version=2)
    with pytest.raises(PathError):
        desk.vault.forget("a.md")


def cached(desk: Desk) -> Vault:
    return desk.open(model="auto", embedder=CachedEmbedder(HashingEmbedder(32), desk.caches / "vectors.sqlite"))


def everything_on_disk(*folders: Path) -> bytes:
    return b"".join(path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("by_archive", [False, True])
def test_purging_takes_the_text_out_of_everything(desk: Desk, by_archive: bool) -> None:
    vault = cached(desk)
    desk.write("b.md", "quokka\n")
    for earlier in ("The xylophonist hides honey.", "The xylophonist hides marmalade."):
        desk.write("secret.md", f"---\ntitle: plans\n---\n{earlier}\n")
        vault.sync()
    vault.search("xylophonist")
    assert b"xylophonist" in everything_on_disk(desk.indexes)
    vectors = _rows(desk)
    if by_archive:
        vault.forget("secret.md")
        assert vault.purge("secret.md").action is Action.PURGED
        assert vault.archived() == ()
    else:
        result = vault.forget("secret.md", purge=True)
        assert (result.id, result.action) == ("secret.md", Action.PURGED)
    assert list(desk.files()) == ["b.md"]
    assert vault.search("xylophonist marmalade").items == ()
    assert _rows(desk) == vectors - 2 == 1
    vault.close()
    assert b"xylophonist" not in everything_on_disk(desk.indexes, desk.caches)


def test_a_card_that_others_archived_and_purged_without_asking_is_out_of_the_index(desk: Desk) -> None:
    desk.write("xylophonist.md", "The xylophonist hides honey.\n")
    desk.vault.search("xylophonist")
    desk.vault.close()
    for call in ("forget", "purge"):
        with desk.open() as vault:
            getattr(vault, call)("xylophonist.md")
    assert b"xylophonist" not in everything_on_disk(desk.indexes, desk.caches)


@pytest.mark.parametrize("by_archive", [False, True])
def test_a_process_without_a_model_purges_the_vectors_too(desk: Desk, by_archive: bool) -> None:
    desk.write("b.md", "quokka\n")
    desk.write("secret.md", "The xylophonist hides honey.\n")
    cached(desk).sync()
    assert _rows(desk) == 2
    vault = desk.open(model="none")
    if by_archive:
        vault.forget("secret.md")
        vault.purge("secret.md")
    else:
        vault.forget("secret.md", purge=True)
    assert _rows(desk) == 1


def test_the_text_of_an_archived_card_that_was_embedded_since_goes_without_a_model(desk: Desk) -> None:
    desk.write("secret.md", "# Plans\n\nThe xylophonist hides honey.\n")
    vault = cached(desk)
    vault.forget("secret.md")
    desk.write("copy.md", "# Plans\n\nThe xylophonist hides honey.\n")
    vault.sync()
    assert _rows(desk) == 1
    vault.close()
    desk.open(model="none").purge("secret.md")
    assert _rows(desk) == 0


def _rows(desk: Desk) -> int:
    with closing(sqlite3.connect(desk.caches / "vectors.sqlite")) as database:
        (count,) = database.execute("SELECT count(*) FROM vectors").fetchone()
    return int(count)


def test_purging_a_card_leaves_what_was_archived_under_its_name(desk: Desk) -> None:
    desk.write("a.md", "one\n")
    desk.vault.forget("a.md")
    desk.write("a.md", "two\n")
    desk.vault.forget("a.md", purge=True)
    assert [card.version for card in desk.vault.archived()] == [1]
    desk.write("a.md", "three\n")
    desk.vault.forget("a.md")
    desk.vault.purge("a.md", version=1)
    assert [card.version for card in desk.vault.archived()] == [2]
    desk.vault.purge("a.md")
    assert desk.vault.archived() == ()
    assert desk.files() == {}


def test_a_symbolic_link_is_neither_archived_nor_deleted(desk: Desk) -> None:
    desk.write("sub/text.txt", "x\n")
    (desk.root / "a.md").symlink_to("sub/text.txt")
    vault = desk.open(recursive=False)
    for purge in (False, True):
        with pytest.raises(CardError, match="symbolic link"):
            vault.forget("a.md", purge=purge)
    assert (desk.root / "a.md").is_symlink()


def test_an_archive_that_leads_out_of_the_vault_is_refused(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "notes").mkdir(parents=True)
    (outside / "x.md").write_text("not ours\n")
    desk.write("notes/a.md", "x\n")
    (desk.root / ".archive").symlink_to(outside)
    with pytest.raises(CardError):
        desk.vault.forget("notes/a.md")
    assert desk.vault.archived() == ()
    with pytest.raises(PathError):
        desk.vault.restore("x.md")
    (desk.root / ".archive").unlink()
    (desk.root / ".archive").mkdir()
    (desk.root / ".archive" / "notes").symlink_to(outside / "notes")
    with pytest.raises(CardError):
        desk.vault.forget("notes/a.md")
    assert list((outside / "notes").iterdir()) == []
    assert desk.read("notes/a.md") == "x\n"


@pytest.mark.parametrize("call", ["forget", "restore"])
def test_a_kill_between_the_two_names_is_healed_by_the_same_call(desk: Desk, call: str) -> None:
    file = desk.write("n/a.md", "x\n")
    archived = desk.root / ".archive" / "n" / "a.md"
    archived.parent.mkdir(parents=True)
    archived.hardlink_to(file)
    if call == "forget":
        desk.vault.forget("n/a.md")
        assert list(desk.files()) == [".archive/n/a.md"]
    else:
        desk.vault.restore("n/a.md")
        assert list(desk.files()) == ["n/a.md"]


def test_foreign_things_in_the_archive_are_left_alone(desk: Desk) -> None:
    for name in (".archive/.trash/x.md", ".archive/.0/a.md", ".archive/n/.hidden.md", ".archive/p.png"):
        desk.write(name, "x\n")
    desk.write("a.md", "x\n")
    assert desk.vault.archived() == ()
    desk.vault.forget("a.md")
    desk.vault.purge("a.md")
    assert len(desk.files()) == 4


def test_uses_stay_with_an_archived_card_and_go_with_a_purged_one(desk: Desk) -> None:
    desk.write("a.md", "x\n")
    desk.write("b.md", "y\n")
    vault = desk.open()
    usage = Usage(state_folder(desk.root, vault.config) / "usage.sqlite", lambda: desk.now)
    usage.count(["a.md", "b.md"])
    vault.move("b.md", "c.md")
    vault.forget("a.md")
    assert sorted(usage.all()) == ["a.md", "c.md"]
    vault.purge("a.md")
    vault.forget("c.md", purge=True)
    assert usage.all() == {}
    usage.close()


def test_a_card_of_a_moment_ago_is_forgotten_and_one_that_is_gone_is_refused(
    desk: Desk,
) -> None:
    vault = desk.open(refresh_seconds=3600)
    vault.sync()
    desk.write("new.md", "wombat\n")
    assert vault.forget("new.md").action is Action.ARCHIVED
    vault.restore("new.md")
    assert [hit.id for hit in vault.search("wombat")] == ["new.md"]
    vault.forget("new.md")
    with pytest.raises(PathError):
        vault.forget("new.md")
    assert vault.search("wombat").items == ()


def test_a_version_that_is_not_there_is_told_apart_from_a_card_that_is_not(desk: Desk) -> None:
    (desk.root / "a.md").write_text("wombat\n")
    desk.vault.forget("a.md")
    with pytest.raises(PathError, match=r"the archive has no version 99 of it") as refusal:
        desk.vault.restore("a.md", version=99)
    assert refusal.value.hint == "it has 1"
    assert desk.vault.restore("a.md").action is Action.RESTORED
