"""Files, names and links between cards as they really are on disks."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest

from cogvault.errors import PathError
from cogvault.types import Status
from tests.vault.conftest import Shelf

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def test_a_legacy_encoding_is_read_named_and_never_rewritten(shelf: Shelf) -> None:
    data = b"# Comida\n\nEl ping\xfcino come pescado en la cocina.\n"
    file = shelf.write("old.md", data)
    shelf.write("good.md", "# Good\n\nkitchen\n")
    assert shelf.found("pingüino") == ["old.md"]
    assert shelf.found("kitchen") == ["good.md"]
    [problem] = shelf.problems("encoding-invalid")
    assert (problem.path, problem.line) == ("old.md", 3)
    assert file.read_bytes() == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_with_its_mark_and_reported_without(shelf: Shelf, encoding: str) -> None:
    text = "---\ntitle: Wide\n---\nwombat digs\n"
    shelf.write("marked.md", ("\ufeff" + text).encode(encoding))
    shelf.write("unmarked.md", text.encode(encoding))
    hits = shelf.vault.search("wombat")
    assert [(hit.id, hit.title) for hit in hits] == [("marked.md", "Wide")]
    assert "\x00" not in json.dumps(hits.to_dict())
    assert [problem.path for problem in shelf.problems("binary")] == ["unmarked.md"]


def test_a_file_with_nul_bytes_is_reported_and_shows_no_garbage(shelf: Shelf) -> None:
    shelf.write("image.md", b"\x89PNG\r\n\x00\x00wombat\xff\xfe")
    shelf.write("note.md", "wombat\n")
    assert shelf.found("wombat") == ["note.md"]
    assert [hit.text for hit in shelf.vault.search("image")] == ["image"]
    assert [problem.path for problem in shelf.problems("binary")] == ["image.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_text_is_reported_and_stops_nothing(shelf: Shelf) -> None:
    shelf.write(b"caf\xe9.md", "wombat\n")
    shelf.write(b"gr\xfcn/inside.md", "wombat\n")
    shelf.write("good.md", "wombat\n")
    report = shelf.vault.sync()
    assert report.added == ("good.md",)
    assert [(problem.path, problem.code) for problem in report.problems] == [
        ("caf\\xe9.md", "name-undecodable"),
        ("gr\\xfcn", "name-undecodable"),
    ]
    json.dumps([report.to_dict(), shelf.vault.search("wombat").to_dict()], ensure_ascii=False).encode()


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS decomposes names itself")
def test_a_decomposed_name_meets_a_composed_link(shelf: Shelf) -> None:
    decomposed = unicodedata.normalize("NFD", "Café.md")
    shelf.write(decomposed, "# Menu\n\nwombat stew\n")
    shelf.write("a.md", "# Lunch\n\nquokka; see [[Café]]\n")
    [hit] = shelf.vault.search("quokka")
    assert hit.related == ("Café.md",)
    assert shelf.found("café")[0] == "Café.md"
    assert shelf.vault.read("Café.md").text == "# Menu\n\nwombat stew\n"
    assert shelf.vault.search("stew")[0].file == decomposed
    assert sorted(os.listdir(shelf.root)) == sorted([decomposed, "a.md"])  # noqa: PTH208


def test_invisible_characters_neither_split_words_nor_break_links(shelf: Shelf) -> None:
    shelf.write("a.md", "# Vault\n\nthe pass\u200bword is in the safe\n")
    shelf.write("b.md", "---\ntitle: Family 👨\u200d👩\u200d👧 plan\n---\nwombats\n")
    shelf.write("c.md", "# Links\n\nquokka [[Family 👨👩👧 plan]] and [[Family 👨\u200d👩\u200d👧 plan]]\n")
    assert shelf.found("password")[0] == "a.md"
    [hit] = shelf.vault.search("quokka")
    assert hit.related == ("b.md",)


def test_cards_without_text_are_listed_and_found_by_title(shelf: Shelf) -> None:
    shelf.write("zero wombat.md", b"")
    shelf.write("blank quokka.md", "  \n\n\t\n")
    shelf.write("only.md", "---\ntitle: Mere bilby\n---\n")
    shelf.write("bom numbat.md", b"\xef\xbb\xbf")
    for word, id in (("wombat", "zero wombat.md"), ("quokka", "blank quokka.md"), ("bilby", "only.md")):
        assert shelf.found(word) == [id]
    assert len(shelf.vault.cards()) == 4


NAMES = ["50% plan #1 & v=2?.md", "a+b c.md", "100%41.md", "ünï[1](2).md", "-draft.md", "#tag.md", "日本語 メモ.md"]


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no question mark in names")
@pytest.mark.parametrize("name", NAMES)
def test_every_listed_id_opens_its_own_card(shelf: Shelf, name: str) -> None:
    for each in NAMES:
        shelf.write(each, f"the text of {each}\n")
        shelf.write(f"sub {each[:2]}/{each}", "another\n")
    shelf.vault.sync()
    assert name in [card.id for card in shelf.vault.cards()]
    assert shelf.vault.read(name).text == f"the text of {name}\n"
    [hit] = [hit for hit in shelf.vault.search(f"the text of {name}", k=20) if hit.id == name]
    assert unquote(hit.uri) == f"cogvault://resources/{name}"
    assert (hit.uri.count("#"), hit.uri.count("?"), hit.uri.isascii()) == (0, 0, True)


def test_case_clashes_are_two_cards(shelf: Shelf) -> None:
    shelf.write("Note.md", "wombat upper\n")
    try:
        (shelf.root / "note.md").open("x").close()
    except FileExistsError:
        pytest.skip("this file system does not tell case apart")
    shelf.write("note.md", "wombat lower\n")
    shelf.write("a.md", "quokka [[Note]]\n")
    shelf.write("b.md", "bilby [[note]]\n")
    assert sorted(shelf.found("wombat")) == ["Note.md", "note.md"]
    assert shelf.vault.read("Note.md").text == "wombat upper\n"
    assert shelf.vault.search("quokka")[0].related == ("Note.md",)
    assert shelf.vault.search("bilby")[0].related == ("note.md",)


def test_backslashes_are_refused_wherever_a_path_is_named(shelf: Shelf) -> None:
    shelf.write("work/notes/a.md", "wombat\n")
    shelf.write("work/b.md", "wombat\n")
    assert shelf.found("wombat", path="work/notes") == ["work/notes/a.md"]
    for name in (lambda: shelf.found("wombat", path="work\\notes"), lambda: shelf.vault.read("work\\notes\\a.md")):
        with pytest.raises(PathError, match="names no card"):
            name()


def test_links_of_the_file_system_lead_nowhere_else(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("wombat outside\n")
    shelf.write("sub/a.md", "wombat inside\n")
    for name, target in (("loop", ".."), ("self", "."), ("all", "/"), ("o.md", outside), ("l.md", "sub/a.md")):
        (shelf.root / name).symlink_to(target)
    (shelf.root / "sub" / "up").symlink_to(shelf.root)
    (shelf.root / "dangling.md").symlink_to("nothing.md")
    (shelf.root / "round.md").symlink_to("round.md")
    assert shelf.found("wombat") == ["sub/a.md"]
    assert [card.id for card in shelf.vault.cards()] == ["sub/a.md"]
    with pytest.raises(PathError):
        shelf.vault.read("o.md")


@pytest.mark.parametrize(
    "folder", [".obsidian", ".git", ".trash", ".archive", "sub/.hidden", pytest.param("\u200b.x", id="invisible dot")]
)
def test_hidden_folders_are_absent_from_everything(shelf: Shelf, folder: str) -> None:
    shelf.write(f"{folder}/secret.md", "wombat\n")
    shelf.write("a.md", "quokka [[secret]]\n")
    assert shelf.found("wombat") == []
    assert [card.id for card in shelf.vault.cards()] == ["a.md"]
    assert shelf.vault.search("quokka")[0].related == ()
    with pytest.raises(PathError):
        shelf.vault.read(f"{folder}/secret.md")


def test_patterns_of_git_keep_cards_out_and_newly_ignored_ones_leave(shelf: Shelf) -> None:
    names = ("#x#y.md", "keep.md", "drop.md", "root.md", "sub/root.md", "dir/in.md", "a/tmp/b.md", "sub/a.md")
    for name in names:
        shelf.write(name, "wombat\n")
    assert len(shelf.found("wombat", k=20)) == len(names)
    shelf.write(".cogvaultignore", "\\#x*\n*op.md\nkeep.md\n!keep.md\n/root.md\ndir/\n**/tmp\n")
    assert sorted(shelf.found("wombat", k=20)) == ["keep.md", "sub/a.md", "sub/root.md"]
    assert shelf.vault.status().cards == 3


def test_the_vaults_own_gitignore_counts_only_when_asked_for(shelf: Shelf) -> None:
    shelf.write(".gitignore", "b.md\n")
    shelf.write("b.md", "wombat\n")
    assert shelf.found("wombat") == ["b.md"]
    assert list(shelf.open(use_gitignore=True).search("wombat")) == []


@pytest.mark.skipif(AS_ROOT or os.name == "nt", reason="nothing is unreadable for root, nor by these modes on Windows")
def test_what_cannot_be_read_keeps_its_old_row_and_is_named(shelf: Shelf) -> None:
    note, folder = shelf.write("a.md", "wombat\n"), shelf.write("sub/b.md", "wombat\n").parent
    shelf.write("c.md", "wombat\n")
    shelf.vault.sync()
    shelf.write("a.md", "wombat again\n")
    note.chmod(0)
    folder.chmod(0)
    try:
        assert sorted(shelf.found("wombat")) == ["a.md", "c.md", "sub/b.md"]
        assert {problem.path for problem in shelf.problems("unreadable")} >= {"a.md"}
        assert shelf.vault.sync().status is Status.DEGRADED
    finally:
        note.chmod(0o600)
        folder.chmod(0o700)


def test_code_makes_no_links(shelf: Shelf) -> None:
    shelf.write("b.md", "wombat\n")
    code = '`[[b]]`\n\n```sh\n[[b]]\n```\n\n~~~\n[[b]] [x](b.md)\n~~~\n\n    [[b]]\n\nif [[ -n "$x" ]]; then\n'
    shelf.write("a.md", f"quokka\n\n{code}")
    assert shelf.vault.search("quokka")[0].related == ()
    assert shelf.card("a.md").links == ()


def test_equal_stems_are_linked_in_the_documented_order(shelf: Shelf) -> None:
    for name in ("a/todo.md", "b/todo.md", "deep/er/todo.md"):
        shelf.write(name, "wombat\n")
    for folder, expected in (("a", "a/todo.md"), ("b", "b/todo.md"), ("c", "a/todo.md")):
        shelf.write(f"{folder}/x.md", f"quokka{folder} [[todo]]\n")
        assert shelf.vault.search(f"quokka{folder}")[0].related == (expected,)


def test_no_link_is_resolved_by_likeness(shelf: Shelf) -> None:
    shelf.write("another-todo.md", "wombat\n")
    shelf.write("overview.md", "wombat\n")
    shelf.write("x.md", "quokka [[todo]] [[overview (x)]] [[anothr-todo]]\n")
    assert shelf.vault.search("quokka")[0].related == ()
    shelf.write("todo.md", "bilby\n")  # a ghost goes live
    assert shelf.vault.search("quokka")[0].related == ("todo.md",)


def test_a_card_over_the_cap_is_indexed_to_the_cap_and_said(shelf: Shelf) -> None:
    shelf.write("big.md", "wombat at the start\n\n" + "filler words here. " * 5000 + "\n\nquokka at the end\n")
    shelf.write("small.md", "bilby\n")
    vault = shelf.open(max_card_bytes=4096)
    assert [hit.id for hit in vault.search("wombat")] == ["big.md"]
    assert [hit.id for hit in vault.search("bilby")] == ["small.md"]
    assert list(vault.search("quokka")) == []
    assert [(problem.path, problem.code) for problem in vault.status().problems] == [("big.md", "oversize")]
    whole = vault.read("big.md")
    assert vault.read("big.md", (whole.total_lines, whole.total_lines)).text == "quokka at the end\n"
