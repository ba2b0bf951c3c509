from __future__ import annotations

import json
import os
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.paths import is_hidden, is_ordinary, is_usable_name
from cogvault.errors import VaultError
from cogvault.indexing.ignore import is_scratch
from cogvault.indexing.scan import ScanOptions, ScanResult, is_card_path, scan
from cogvault.types import KnownFile, Stamp

FLAT = ScanOptions()
DEEP = ScanOptions(recursive=True)
CAFE_NFC = unicodedata.normalize("NFC", "Café.md")
CAFE_NFD = unicodedata.normalize("NFD", "Café.md")


def write(root: Path, *paths: str, text: str = "text") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def ids(result: ScanResult) -> list[str]:
    return list(result.files)


def codes(result: ScanResult) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in result.problems]


def test_a_flat_vault_holds_the_markdown_files_of_its_folder(vault: Path) -> None:
    write(vault, "b.md", "a.MD", "notes.txt", "folder/c.md", "readme")
    assert ids(scan(vault, FLAT)) == ["a.MD", "b.md"]


def test_a_recursive_vault_keeps_relative_paths_as_ids(vault: Path) -> None:
    write(vault, "b.md", "z/y/x.md", "z/c.md")
    assert ids(scan(vault, DEEP)) == ["b.md", "z/c.md", "z/y/x.md"]


def test_hidden_entries_and_scratch_files_are_absent(vault: Path) -> None:
    write(vault, "n.md", ".hidden.md", ".obsidian/a.md", ".git/b.md", ".trash/c.md", "d/.archive/e.md")
    write(vault, ".#n.md", "n.md~", "#n.md#", ".n.md.swp", "4913", "n.md.tmp", "~$n.md", ".~lock.n.md#")
    result = scan(vault, DEEP)
    assert ids(result) == ["n.md"]
    assert result.problems == ()


def test_folders_pipes_and_files_that_only_look_like_cards_are_skipped(vault: Path) -> None:
    (vault / "folder.md").mkdir()
    write(vault, "folder.md/inner.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(vault / "pipe.md")
    assert ids(scan(vault, FLAT)) == []
    assert ids(scan(vault, DEEP)) == ["folder.md/inner.md"]


def test_stamps_are_those_of_the_files(vault: Path) -> None:
    write(vault, "a.md")
    status = (vault / "a.md").stat()
    stamp = scan(vault, FLAT).files["a.md"].stamp
    assert (stamp.size, stamp.mtime_ns, stamp.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)
    assert stamp.ctime_ns == status.st_ctime_ns


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_text("x")])
def test_a_missing_root_and_a_file_as_root_are_refused(tmp_path: Path, make: object) -> None:
    root = tmp_path / "no vault"
    make(root)  # type: ignore[operator]
    with pytest.raises(VaultError) as caught:
        scan(root, FLAT)
    assert str(root) in str(caught.value)
    assert caught.value.hint


def test_a_root_that_vanishes_during_the_scan_is_refused(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "a.md", "z/b.md")
    listing = os.scandir

    def vanish(path: Path) -> object:
        if path.name == "z":
            vault.rename(vault.with_name("away"))
            vault.mkdir()
        return listing(path)

    monkeypatch.setattr(os, "scandir", vanish)
    with pytest.raises(VaultError):
        scan(vault, DEEP)


def test_an_unreadable_root_is_refused(plain_user_vault: Path) -> None:
    plain_user_vault.chmod(0)
    with pytest.raises(VaultError):
        scan(plain_user_vault, FLAT)
    plain_user_vault.chmod(0o700)


def test_an_unreadable_folder_is_reported_and_what_is_known_of_it_stays(plain_user_vault: Path) -> None:
    write(plain_user_vault, "a.md", "shut/b.md", "shut/in/c.md")
    (plain_user_vault / "shut").chmod(0)
    result = scan(plain_user_vault, DEEP)
    assert ids(result) == ["a.md"]
    assert codes(result) == [("unreadable", "shut/")]
    assert not result.covers("shut/b.md")
    assert not result.covers("shut/in/c.md")
    assert result.covers("shut.md")


def test_a_folder_that_lists_names_only_keeps_its_cards(plain_user_vault: Path) -> None:
    write(plain_user_vault, "a.md", "listed/b.md")
    (plain_user_vault / "listed").chmod(0o400)
    result = scan(plain_user_vault, DEEP)
    assert ids(result) == ["a.md"]
    assert not result.covers("listed/b.md")
    assert codes(result) == [("unreadable", "listed/b.md")]


def test_an_undecodable_name_is_reported_as_printable_text(vault: Path) -> None:
    write(vault, "good.md")
    raw = os.fsencode(vault) + b"/caf\xe9.md"
    try:
        os.close(os.open(raw, os.O_CREAT | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system takes only names that are valid text")
    result = scan(vault, FLAT)
    assert ids(result) == ["good.md"]
    assert codes(result) == [("name-undecodable", "caf\\xe9.md")]
    assert json.loads(json.dumps(result.problems[0].path).encode()) == "caf\\xe9.md"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not allow these names")
@pytest.mark.parametrize("name", ["con.md", "AUX.MD", "a\\b.md", "x\ny.md", "tail /a.md", "C:/a.md", "%2e%2e/a.md"])
def test_a_name_that_the_resolver_refuses_is_reported_and_not_indexed(vault: Path, name: str) -> None:
    write(vault, "good.md", name)
    result = scan(vault, DEEP)
    assert ids(result) == ["good.md"]
    assert [problem.code for problem in result.problems] == ["name-unusable"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not allow these names")
def test_names_with_characters_of_uris_and_shells_are_cards(vault: Path) -> None:
    names = ["-draft.md", "50% plan #1 & v=2?.md", "note: a|b*.md", "…and more.md", "設備／清單.md"]
    write(vault, *names)
    assert sorted(scan(vault, FLAT).files) == sorted(names)


def test_ids_are_nfc_and_paths_are_as_on_disk(vault: Path) -> None:
    write(vault, CAFE_NFD)
    [file] = scan(vault, FLAT).files.values()
    assert file.id == CAFE_NFC
    assert (vault / file.path).is_file()


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS cannot hold both names")
def test_of_two_names_with_one_normal_form_the_second_keeps_its_own(vault: Path) -> None:
    write(vault, CAFE_NFD, CAFE_NFC)
    files = scan(vault, FLAT).files
    assert {id: file.path for id, file in files.items()} == {CAFE_NFC: CAFE_NFC, CAFE_NFD: CAFE_NFD}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take these for one name")
def test_names_that_differ_in_case_only_are_two_cards(vault: Path) -> None:
    write(vault, "Note.md", "note.md")
    assert ids(scan(vault, FLAT)) == ["Note.md", "note.md"]


def test_links_out_of_the_vault_and_loops_are_not_followed(vault: Path, tmp_path: Path) -> None:
    write(vault, "a.md", "sub/b.md")
    write(tmp_path, "outside.md", "other/c.md")
    (vault / "loop").symlink_to("..")
    (vault / "sub" / "up").symlink_to(vault)
    (vault / "z").symlink_to("/")
    (vault / "other").symlink_to(tmp_path / "other")
    (vault / "out.md").symlink_to(tmp_path / "outside.md")
    (vault / "self.md").symlink_to("self.md")
    (vault / "gone.md").symlink_to("nothing.md")
    result = scan(vault, DEEP)
    assert ids(result) == ["a.md", "sub/b.md"]
    assert codes(result) == [("link-ignored", name) for name in ("gone.md", "out.md", "self.md")]


def test_a_link_to_another_card_does_not_make_a_second_card(vault: Path) -> None:
    write(vault, "a.md", "sub/b.md")
    (vault / "again.md").symlink_to("a.md")
    (vault / "deep.md").symlink_to("sub/b.md")
    assert ids(scan(vault, DEEP)) == ["a.md", "sub/b.md"]
    assert scan(vault, DEEP).problems == ()


def test_a_flat_vault_takes_a_linked_file_of_its_folders_once(vault: Path) -> None:
    write(vault, "sub/b.md", ".hidden/c.md")
    (vault / "first.md").symlink_to("sub/b.md")
    (vault / "second.md").symlink_to("sub/b.md")
    (vault / "secret.md").symlink_to(".hidden/c.md")
    result = scan(vault, FLAT)
    assert [(file.path, file.target) for file in result.files.values()] == [("first.md", "sub/b.md")]
    assert codes(result) == [("link-ignored", "secret.md")]


def test_the_vault_itself_may_be_a_link(vault: Path, tmp_path: Path) -> None:
    write(vault, "a.md")
    (tmp_path / "link").symlink_to(vault)
    assert ids(scan(tmp_path / "link", DEEP)) == ["a.md"]


@given(
    st.text(st.sampled_from("aZ09k\u212a ._-~$#%:é\n"), max_size=8) | st.sampled_from(["con", "NUL", "com1", "4913"])
)
def test_names_that_need_no_closer_look_would_pass_one(stem: str) -> None:
    name = f"{stem}.md"
    if is_ordinary(name):
        assert is_usable_name(name)
        assert not is_hidden(name)
        assert not is_scratch(name)


@pytest.mark.parametrize("options", [FLAT, DEEP, ScanOptions(ignore=("b.md", "sub/"))])
@pytest.mark.parametrize("own", ["", "c.md\n"])
def test_a_scan_sees_the_same_when_every_name_gets_a_closer_look(
    vault: Path, monkeypatch: pytest.MonkeyPatch, options: ScanOptions, own: str
) -> None:
    names = ["a.md", "B.MD", "b.md", "c.md", "con.md", "~$d.md", "#e#.md", "n.txt", ".h.md", "f.md/in.md", CAFE_NFD]
    write(vault, *names, *(f"sub/{name}" for name in names), *(f"user/ana/{name}" for name in names))
    (vault / "link.md").symlink_to("n.txt")
    os.mkfifo(vault / "pipe.md")
    if own:
        write(vault, ".cogvaultignore", text=own)
    quick = scan(vault, options)
    monkeypatch.setattr("cogvault.indexing.scan.is_ordinary", lambda name: False)
    assert scan(vault, options) == quick
    assert "a.md" in quick.files


def test_patterns_of_options_win_over_the_ignore_file(vault: Path) -> None:
    write(vault, "a.md", "b.md", "c.md")
    write(vault, ".cogvaultignore", text="\ufeffa.md\r\n# comment\r\nb.md\r\n")
    assert ids(scan(vault, FLAT)) == ["c.md"]
    assert ids(scan(vault, ScanOptions(ignore=("!a.md", "c.md")))) == ["a.md"]


def test_ignored_folders_are_not_walked(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "a.md", "skip/deep/b.md", "skip/!c.md")
    listed: list[str] = []
    listing = os.scandir

    def note(path: Path) -> object:
        listed.append(path.name)
        return listing(path)

    monkeypatch.setattr(os, "scandir", note)
    assert ids(scan(vault, ScanOptions(recursive=True, ignore=("skip/", "!skip/deep/b.md")))) == ["a.md"]
    assert listed == ["vault"]


@pytest.mark.parametrize("name", ["a.md", CAFE_NFC, CAFE_NFD])
def test_a_file_that_is_as_the_index_knows_it_costs_no_memory_of_its_own(vault: Path, name: str) -> None:
    write(vault, name, "other.md")
    seen = scan(vault, FLAT)
    known = {id: KnownFile(file.path, file.stamp, "") for id, file in seen.files.items()}
    known["other.md"] = KnownFile("other.md", replace(known["other.md"].stamp, ctime_ns=1), "")
    again = scan(vault, FLAT, indexed=known)
    assert again == seen
    id = unicodedata.normalize("NFC", name)
    if name != CAFE_NFD:  # whose path on disk is no id: it is looked up by no index
        assert again.files[id].stamp is known[id].stamp


def test_below_an_ignore_file_that_cannot_be_read_only_what_is_indexed_is_taken(vault: Path) -> None:
    write(vault, "a.md", "sub/old.md", "sub/new.md", "sub/x/new.md", "other/b.md")
    (vault / "sub/.gitignore").symlink_to(vault / "patterns")
    options = ScanOptions(recursive=True, use_gitignore=True)
    result = scan(vault, options, indexed={"sub/old.md": KnownFile("sub/old.md", Stamp(0, 0, 0), "")})
    assert ids(result) == ["a.md", "other/b.md", "sub/old.md"]
    assert [(problem.path, problem.code) for problem in result.unread] == [("sub/.gitignore", "unreadable")]
    assert result.covers("sub/gone.md")
    assert not is_card_path(vault, options, "sub/card.md")
    assert is_card_path(vault, options, "other/card.md")
    assert ids(scan(vault, options, ["sub/new.md"], known=lambda path: True)) == []


def test_an_ignore_file_that_is_too_large_is_not_read_in_part(vault: Path) -> None:
    write(vault, "a.md", "b.md")
    write(vault, ".cogvaultignore", text="#\n" * (1 << 19) + "b.md\n")
    result = scan(vault, DEEP, indexed={"a.md": KnownFile("a.md", Stamp(0, 0, 0), "")})
    assert ids(result) == ["a.md"]
    assert "larger than 1048576 bytes" in result.unread[0].message
    write(vault, ".cogvaultignore", text="#\n" * ((1 << 19) - 4) + "b.md\n")
    assert (ids(scan(vault, DEEP)), scan(vault, DEEP).problems) == (["a.md"], ())


def test_the_folder_of_lost_files_at_the_root_of_a_disk_is_no_problem(plain_user_vault: Path) -> None:
    write(plain_user_vault, "a.md")
    for name in ("lost+found", "sub/lost+found"):
        (plain_user_vault / name).mkdir(parents=True)
        (plain_user_vault / name).chmod(0)
    result = scan(plain_user_vault, DEEP)
    assert codes(result) == [("unreadable", "sub/lost+found/")]
    assert not result.covers("lost+found/b.md")


def test_gitignore_files_count_only_when_asked_for(vault: Path) -> None:
    write(vault, "a.md", "b.md", "sub/a.md", "sub/c.md")
    write(vault, ".gitignore", text="a.md\n")
    write(vault, "sub/.gitignore", text="!a.md\n/c.md\n")
    assert ids(scan(vault, DEEP)) == ["a.md", "b.md", "sub/a.md", "sub/c.md"]
    assert ids(scan(vault, ScanOptions(recursive=True, use_gitignore=True))) == ["b.md", "sub/a.md"]


def test_a_bad_pattern_is_named_and_the_others_hold(vault: Path) -> None:
    write(vault, "a.md", "b.md")
    write(vault, ".cogvaultignore", text="a.md\n!\n")
    result = scan(vault, FLAT)
    assert ids(result) == ["b.md"]
    assert [(problem.path, problem.code, problem.line) for problem in result.problems] == [
        (".cogvaultignore", "ignore-pattern", 2)
    ]


def test_patterns_match_names_in_any_normal_form(vault: Path) -> None:
    write(vault, CAFE_NFD)
    assert ids(scan(vault, ScanOptions(ignore=(CAFE_NFC,)))) == []


@pytest.mark.parametrize("absolute", [True, False])
def test_a_hint_limits_the_scan_to_its_surroundings(vault: Path, absolute: bool) -> None:
    write(vault, "a.md", "sub/b.md", "sub/deep/c.md", "other/d.md")
    hint = vault / "sub/b.md" if absolute else Path("sub/b.md")
    result = scan(vault, DEEP, [hint])
    assert ids(result) == ["sub/b.md"]
    assert result.covers("sub/gone.md")
    assert not result.covers("sub/deep/c.md")
    assert not result.covers("a.md")


def anything(path: str) -> bool:
    return True


def test_a_hinted_card_is_looked_at_without_its_folder(vault: Path) -> None:
    write(vault, "a.md", "sub/b.md", "sub/c.md")
    result = scan(vault, DEEP, [vault / "sub/b.md", "a.md"], anything)
    everything = scan(vault, DEEP)
    assert result.files == {id: everything.files[id] for id in ("a.md", "sub/b.md")}
    assert (result.alone, result.scopes) == ({"a.md", "sub/b.md"}, ())
    assert not result.covers("sub/c.md")


@pytest.mark.parametrize("hint", ["sub/gone.md", "sub/link.md", "sub/folder.md", "sub/ignored.md", "sub/b.txt"])
def test_a_hint_that_is_no_plain_card_has_its_folder_looked_at(vault: Path, hint: str) -> None:
    write(vault, "sub/a.md", "sub/ignored.md", "sub/b.txt", "sub/folder.md/inner.md")
    (vault / "sub/link.md").symlink_to(vault / "sub/a.md")
    result = scan(vault, ScanOptions(recursive=True, ignore=("ignored.md",)), [hint], anything)
    assert not result.alone
    assert {"sub/a.md"} == result.files.keys() - {"sub/folder.md/inner.md"}


def test_a_hinted_card_below_a_linked_folder_is_none(vault: Path) -> None:
    write(vault, "sub/a.md")
    (vault / "linked").symlink_to(vault / "sub")
    assert ids(scan(vault, DEEP, ["linked/a.md"], anything)) == []


def test_where_case_does_not_matter_a_hinted_card_has_its_folder_looked_at(vault: Path) -> None:
    write(vault, "sub/a.md")
    # Another name of the same file is all that can be seen of such a disk.
    os.link(vault / "sub/a.md", vault / "sub/A.MD")
    result = scan(vault, DEEP, ["sub/a.md"], anything)
    assert not result.alone
    assert "sub/a.md" in result.files


def test_a_hinted_folder_is_walked_and_a_vanished_one_is_covered(vault: Path) -> None:
    write(vault, "a.md", "sub/b.md", "sub/deep/c.md")
    assert ids(scan(vault, DEEP, ["sub"])) == ["a.md", "sub/b.md", "sub/deep/c.md"]
    gone = scan(vault, DEEP, ["gone"])
    assert ids(gone) == ["a.md"]
    assert gone.covers("gone/x/y.md")


@pytest.mark.parametrize("hint", ["../outside.md", "/etc/passwd", ".git/HEAD", "sub/../../x.md"])
def test_hints_outside_or_hidden_are_not_looked_at(vault: Path, hint: str) -> None:
    write(vault, "a.md")
    result = scan(vault, DEEP, [hint])
    assert ids(result) == []
    assert not result.covers("a.md")


@pytest.mark.parametrize("hint", [".", ".cogvaultignore", "sub/.gitignore", "Café/x.md"])
def test_hints_that_may_concern_any_card_scan_everything(vault: Path, hint: str) -> None:
    write(vault, "a.md", "sub/b.md")
    assert ids(scan(vault, DEEP, [hint])) == ["a.md", "sub/b.md"]


def test_a_hinted_folder_behind_a_link_or_ignored_gives_nothing(vault: Path) -> None:
    write(vault, "sub/b.md", "no/c.md")
    (vault / "again").symlink_to("sub")
    options = ScanOptions(recursive=True, ignore=("no/",))
    assert ids(scan(vault, options, ["again/b.md"])) == []
    assert ids(scan(vault, options, ["no/c.md"])) == []


def test_a_very_deep_tree_is_walked(vault: Path) -> None:
    folder = vault
    for _ in range(400):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "n.md").write_text("x")
    assert ids(scan(vault, DEEP)) == ["d/" * 400 + "n.md"]


def test_the_folders_of_addresses_are_walked_in_a_flat_vault_too(vault: Path) -> None:
    for id in ("a.md", "user/ana/p.md", "session/s/timeline/t.md", "agent/x.md", "resources/y/z.md", "users/no.md"):
        (vault / id).parent.mkdir(parents=True, exist_ok=True)
        (vault / id).write_text("x")
    assert ids(scan(vault, ScanOptions())) == [
        "a.md",
        "agent/x.md",
        "resources/y/z.md",
        "session/s/timeline/t.md",
        "user/ana/p.md",
    ]
    assert ids(scan(vault, ScanOptions(ignore=("session/",)), ["session/s/timeline/t.md", "user/ana/p.md"])) == [
        "user/ana/p.md"
    ]
    assert ids(scan(vault, ScanOptions(), ["users/no.md"])) == []


def test_a_card_s_path_is_known_before_there_is_a_card(vault: Path) -> None:
    (vault / "real").mkdir()
    (vault / "user").symlink_to("real", target_is_directory=True)
    flat, deep = ScanOptions(ignore=("no*",)), ScanOptions(recursive=True)
    taken = [path for path in ("a.md", "agent/b/c.md", "x/a.md", "no.md", "agent/note/a.md", "a.txt", "~$a.md", ".a.md")
             if is_card_path(vault, flat, path)]  # fmt: skip
    assert taken == ["a.md", "agent/b/c.md"]
    assert is_card_path(vault, deep, "x/a.md")
    assert not is_card_path(vault, deep, "user/a.md")  # a folder is never entered by a link
