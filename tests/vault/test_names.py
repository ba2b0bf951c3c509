"""Names and sizes at their limits, and every argument that is a path."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogvault import Vault
from cogvault.cards.slugs import slug
from cogvault.errors import CogvaultError, PathError
from cogvault.types import Action
from cogvault_cli.main import cli
from tests.vault.conftest import Shelf, ids

TITLES = {
    "การประชุมทีม": "thai one",
    "แผนงานไตรมาส": "thai two",
    "🎉🎉": "emoji one",
    "🚀": "emoji two",
    "हिन्दी टिप्पणी": "hindi",
    "მთავარი გეგმა": "georgian",
    "ملاحظات الفريق": "arabic",
    "한국어 메모": "korean",
}


def test_titles_of_every_script_are_cards_of_their_own(shelf: Shelf) -> None:
    names = {title: f"{slug(title)}.md" for title in TITLES}
    assert len(set(names.values())) == len(TITLES)
    for title, name in names.items():
        shelf.write(name, f"---\ntitle: {title}\n---\nwombat {TITLES[title]}\n")
    assert len(shelf.found("wombat", k=20)) == len(TITLES)
    assert sorted(os.listdir(shelf.root)) == sorted(names.values())  # noqa: PTH208
    for title, name in names.items():
        assert shelf.card(name).title == title
        if any(char.isalpha() for char in title):
            assert shelf.found(title)[0] == name
            assert unicodedata.normalize("NFC", title.split()[0]) in unicodedata.normalize("NFC", name)
    shelf.write("links.md", "quokka " + " ".join(f"[[{title}]]" for title in TITLES))
    assert set(shelf.vault.search("quokka")[0].related) == set(names.values())


def test_a_title_longer_than_any_name_is_kept_whole(shelf: Shelf) -> None:
    title = "设备清单更新记录" * 13
    name = f"{slug(title)}.md"
    assert len(name.encode()) <= 255
    shelf.write(name, f"---\ntitle: {title}\n---\nwombat\n")
    shelf.write("links.md", f"quokka [[{title}]]\n")
    assert shelf.card(name).title == title
    assert shelf.vault.search("wombat")[0].title == title
    assert shelf.vault.search("quokka")[0].related == (name,)


def test_recorded_titles_of_every_script_are_files_of_their_own(shelf: Shelf) -> None:
    long = "设备清单更新记录" * 13
    written = {
        title: shelf.vault.record(f"wombat text of {title}", title=title) for title in (*TITLES, long, long + "二")
    }
    assert {result.action for result in written.values()} == {Action.CREATED}
    assert len({result.id for result in written.values()}) == len(written)
    for title, result in written.items():
        assert len(result.id.encode()) <= 255
        assert shelf.card(result.id).title == title
        assert f"wombat text of {title}" in shelf.vault.read(result.id).text
    assert len(list(shelf.root.glob("*.md"))) == len(written)


@pytest.mark.parametrize("size", [1_000, 4_096, 60_000, 255_000, 262_144, 262_145, 1_000_000, 5_000_000])
def test_what_is_recorded_can_be_read_found_and_added_to(shelf: Shelf, size: int) -> None:
    text = "wombat " + "x" * (size - 14) + " quokka"
    try:
        result = shelf.vault.record(text, title="Large")
    except CogvaultError as error:
        refused = error
    else:
        assert text in shelf.vault.read(result.id).text
        assert shelf.found("wombat") == [result.id]
        shelf.vault.update(result.id, append="and a numbat")
        assert shelf.found("numbat") == [result.id]
        return
    assert refused.hint
    assert list(shelf.root.iterdir()) == []  # refused up front, nothing left behind


@pytest.mark.parametrize(
    "stem", ["x" * 252, "设" * 84, "e\u0301" * 84, "🎉" * 63], ids=["latin", "cjk", "nfd", "emoji"]
)
def test_the_longest_names_of_a_disk_are_cards(shelf: Shelf, stem: str) -> None:
    name = f"{stem}.md"
    assert 250 <= len(name.encode()) <= 255
    shelf.write(name, "wombat\n")
    shelf.write(f"{stem}/{name}", "quokka\n")
    [hit] = shelf.vault.search("wombat")
    assert hit.file == name
    assert shelf.vault.read(hit.id).text == "wombat\n"
    assert shelf.vault.read(shelf.found("quokka")[0]).text == "quokka\n"
    assert shelf.vault.layers(hit.id).abstract


@pytest.mark.parametrize("name", ["设" * 80, "e\u0301" * 60, "a b c", "%41", "-rf", "'quote\"", "💾"])
def test_a_vault_may_have_any_name(shelf: Shelf, tmp_path: Path, name: str) -> None:
    root = tmp_path / "roots" / name
    root.mkdir(parents=True)
    (root / "a.md").write_text("wombat\n")
    assert ids(shelf.open(root).search("wombat")) == ["a.md"]


@pytest.mark.parametrize("over", [-1, 0, 1, 100, 5000])
def test_what_can_be_indexed_can_be_read_whole_at_every_size(shelf: Shelf, over: int) -> None:
    cap = 4096
    text = "wombat\n" + "é" * ((cap + over - 7 - 8) // 2)
    text += "x" * (cap + over - len(text.encode()) - 8) + "\nquokka\n"
    assert len(text.encode()) == cap + over
    shelf.write("a.md", text)
    vault = shelf.open(max_card_bytes=cap)
    assert ids(vault.search("wombat")) == ["a.md"]
    assert vault.read("a.md").text == text
    total = vault.read("a.md").total_lines
    assert vault.read("a.md", (total, total)).text == "quokka\n"
    cut = [problem.code for problem in vault.status().problems]
    assert cut == (["oversize"] if over > 0 else [])
    assert bool(list(vault.search("quokka"))) == (over <= 1)


def test_a_giant_of_one_paragraph_freezes_nothing_and_is_said(shelf: Shelf) -> None:
    shelf.write("small.md", "quokka\n")
    shelf.write("giant.md", b"wombat " + b"lorem ipsum dolor " * 1_200_000 + b"numbat\n")
    assert (shelf.root / "giant.md").stat().st_size > 20 << 20
    vault = shelf.open(max_card_bytes=256 << 10)
    report = vault.sync()
    assert report.failed == ()
    assert ids(vault.search("quokka")) == ["small.md"]
    assert ids(vault.search("wombat")) == ["giant.md"]
    [problem] = vault.status().problems
    assert (problem.path, problem.code) == ("giant.md", "oversize")
    assert len(json.dumps(vault.search("wombat").to_dict())) < 20_000
    assert len(vault.layers("giant.md").overview) < 20_000
    assert vault.read("giant.md", (2, 5)).text == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems fold case")
def test_a_rename_in_case_only_keeps_the_card(shelf: Shelf) -> None:
    shelf.write("Note.md", "wombat\n")
    shelf.write("a.md", "quokka [[note]]\n")
    shelf.vault.sync()
    (shelf.root / "Note.md").rename(shelf.root / "note.md")
    report = shelf.vault.sync()
    assert (report.moved, report.added, report.removed) == ((("Note.md", "note.md"),), (), ())
    assert shelf.found("wombat") == ["note.md"]
    assert shelf.vault.search("quokka")[0].related == ("note.md",)


OUTSIDE = [
    "../secret.md",
    "../vault-evil/s.md",
    "..",
    "/",
    "a/../../secret.md",
    "..\\secret.md",
    "%2e%2e/secret.md",
    "~/secret.md",
    "C:\\secret.md",
    "link.md",
    "link/secret.md",
    "cogvault://resources/../secret.md",
    "file:///etc/passwd",
    "\x00",
]


@pytest.fixture
def guarded(shelf: Shelf, tmp_path: Path) -> Shelf:
    for path in ("secret.md", "vault-evil/s.md"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("numbat secret\n")
    shelf.write("a/a.md", "wombat\n")
    (shelf.root / "link").symlink_to(tmp_path, target_is_directory=True)
    (shelf.root / "link.md").symlink_to(tmp_path / "secret.md")
    shelf.vault.sync()
    return shelf


ASKS: dict[str, Callable[[Vault, str], object]] = {
    "read": lambda vault, path: vault.read(path),
    "read lines": lambda vault, path: vault.read(path, (1, 2)),
    "layers": lambda vault, path: vault.layers(path),
}


@pytest.mark.parametrize("path", OUTSIDE, ids=ascii)
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_no_argument_reaches_outside(guarded: Shelf, ask: Callable[[Vault, str], object], path: str) -> None:
    there, nowhere = guarded.vault, path.replace("secret", "nothing").replace("s.md", "none.md")
    said = []
    for each in (path, nowhere):
        with pytest.raises(PathError) as caught:
            ask(there, each)
        assert "numbat" not in str(caught.value)
        said.append((caught.value.message, caught.value.hint))
    assert said[0] == said[1]  # what exists is not revealed


@pytest.mark.parametrize("path", [path for path in OUTSIDE if path != "\x00"], ids=ascii)
@pytest.mark.parametrize("command", ["show", "layers"])
def test_no_command_reaches_outside(guarded: Shelf, command: str, path: str) -> None:
    environ = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(guarded.indexes), "COGVAULT_RECURSIVE": "true"}
    result = CliRunner().invoke(cli, [command, "--tenant", str(guarded.root), "--json", "--", path], env=environ)
    assert result.exit_code == 3, result.output
    document = json.loads(result.stdout)
    assert (document["status"], document["error"]["kind"]) == ("failed", "PathError")
    assert "numbat" not in result.output


@pytest.mark.parametrize("path", OUTSIDE, ids=ascii)
def test_no_filter_and_no_setting_reaches_outside(guarded: Shelf, path: str) -> None:
    with suppress(CogvaultError):
        assert set(guarded.found("numbat secret", path=path, min_score=0.0, k=50)) <= {"a/a.md"}
    guarded.write(".cogvaultignore", f"{path}\n" if path != "\x00" else "\n")
    assert guarded.found("numbat secret") == []


@pytest.mark.parametrize("name", ["-draft.md", "--help.md", "50% plan #1 & v=2?.md", "#tag.md", "a b.md"])
def test_a_command_opens_every_name(shelf: Shelf, name: str) -> None:
    shelf.write(name, "wombat here\n")
    environ = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(shelf.indexes)}
    found = CliRunner().invoke(cli, ["search", "wombat", "--json", "--tenant", str(shelf.root)], env=environ)
    [hit] = json.loads(found.stdout)["hits"]
    shown = CliRunner().invoke(cli, ["show", "--tenant", str(shelf.root), "--", hit["id"]], env=environ)
    assert (shown.exit_code, shown.stdout.strip()) == (0, "wombat here")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_commands_print_names_that_are_no_text(shelf: Shelf) -> None:
    shelf.write(b"caf\xe9.md", "wombat\n")
    shelf.write("good.md", "wombat\n")
    environ = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(shelf.indexes)}
    for args in (["index", "--json"], ["search", "wombat", "--json"], ["status", "--json"], ["index"], ["status"]):
        result = CliRunner().invoke(cli, [*args, "--tenant", str(shelf.root)], env=environ)
        assert result.exit_code == 0, result.output
        result.stdout.encode()
        if "--json" in args:
            json.loads(result.stdout)
