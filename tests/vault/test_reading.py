"""Reading cards back, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.errors import PathError, QueryError
from tests.vault.conftest import Shelf

REFUSED = (
    "../vault-evil/s.md",
    "../secret.md",
    "..",
    ".",
    "",
    "/etc/passwd",
    "a/../../secret.md",
    "a/../a.md",
    "./a.md",
    "a//a.md",
    "..%2fsecret.md",
    "%2e%2e/secret.md",
    "%252e%252e%252fsecret.md",
    "..\\secret.md",
    "C:\\secret.md",
    "C:/secret.md",
    "\\\\server\\share\\a.md",
    "~/a.md",
    "a.md\x00.txt",
    ".hidden.md",
    ".cogvault.toml",
    "a/.git/config",
    "con.md",
    "a.md ",
    "link/secret.md",
    "link.md",
    "\udce9.md",
    "x" * 5000,
)


@pytest.fixture
def library(shelf: Shelf, tmp_path: Path) -> Shelf:
    for path in ("secret.md", "vault-evil/s.md"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("wombat\n")
    shelf.write("a/a.md", "wombat\n")
    shelf.write(".hidden.md", "wombat\n")
    shelf.write(".cogvault.toml", "recursive = true\n")
    (shelf.root / "link").symlink_to(tmp_path, target_is_directory=True)
    (shelf.root / "link.md").symlink_to(tmp_path / "secret.md")
    shelf.vault.sync()
    return shelf


@pytest.mark.parametrize("path", REFUSED, ids=ascii)
def test_a_path_that_names_no_card_is_refused(library: Shelf, path: str) -> None:
    with pytest.raises(PathError) as caught:
        library.vault.read(path)
    assert "wombat" not in str(caught.value)
    str(caught.value).encode()


def test_a_refusal_does_not_tell_what_exists(library: Shelf) -> None:
    said = set()
    for path in ("../secret.md", "../nothing.md", "/etc/passwd", "/etc/nothing", ".hidden.md", ".none.md", "link.md"):
        with pytest.raises(PathError) as caught:
            library.vault.read(path)
        said.add((caught.value.message, caught.value.hint))
    assert len(said) == 1


@pytest.mark.parametrize(
    "path", ["..", "../vault-evil", "a/../..", "%2e%2e", "a/.git", "cogvault://user/../..", "/", "/a"]
)
def test_a_folder_filter_that_could_reach_outside_is_refused(library: Shelf, path: str) -> None:
    with pytest.raises(PathError):
        library.vault.search("wombat", path=path)


@pytest.mark.parametrize("path", ["cogvault://resources/", "cogvault://resources/a/", "a/"])
def test_a_folder_filter_begins_in_the_vault(library: Shelf, path: str) -> None:
    assert [hit.id for hit in library.vault.search("wombat", path=path)] == ["a/a.md"]


@pytest.mark.parametrize("scheme", ["cogvault", "cortex"])
def test_a_card_is_read_by_its_address(library: Shelf, scheme: str) -> None:
    assert library.vault.read(f"{scheme}://resources/a/a.md").text == "wombat\n"
    assert library.vault.read(f"{scheme}://resources/a/a.md").id == "a/a.md"
    library.write("user/ana/50% plan #1 & v=2?.md", "quokka\n")
    [hit] = library.vault.search("quokka", path=f"{scheme}://user/ana")
    assert library.vault.read(hit.uri).text == "quokka\n"


def test_folder_filters_match_on_path_boundaries(library: Shelf) -> None:
    library.write("ab/b.md", "wombat\n")
    assert library.found("wombat", path="a") == library.found("wombat", path="a/") == ["a/a.md"]
    assert library.found("wombat", path="a/a.md") == ["a/a.md"]


def test_lines_are_those_of_the_file(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntitle: x\n---\n# One\n\nwombat\nquokka\n\nlast, without a newline")
    shelf.vault.sync()
    whole = shelf.vault.read("a.md")
    assert (whole.lines, whole.total_lines) == ((1, 9), 9)
    part = shelf.vault.read("a.md", (6, 7))
    assert (part.text, part.lines, part.total_lines) == ("wombat\nquokka\n", (6, 7), 9)
    assert shelf.vault.read("a.md", (8, 999)).text == "\nlast, without a newline"
    [hit] = shelf.vault.search("quokka")
    assert shelf.vault.read(hit.id, hit.lines).text.strip() == hit.text.strip()


@pytest.mark.parametrize("lines", [(0, 3), (-1, 2), (3, 2)])
def test_a_range_that_is_none_is_refused(shelf: Shelf, lines: tuple[int, int]) -> None:
    shelf.write("a.md", "one\ntwo\nthree\n")
    shelf.vault.sync()
    with pytest.raises(QueryError):
        shelf.vault.read("a.md", lines)


def test_a_range_behind_the_end_is_empty_and_says_how_long_the_card_is(shelf: Shelf) -> None:
    shelf.write("a.md", "one\ntwo\n")
    shelf.write("empty.md", b"")
    shelf.vault.sync()
    assert (shelf.vault.read("a.md", (5, 9)).text, shelf.vault.read("a.md", (5, 9)).total_lines) == ("", 2)
    assert (shelf.vault.read("empty.md").text, shelf.vault.read("empty.md").total_lines) == ("", 0)


def test_signs_that_only_look_like_line_ends_are_none(shelf: Shelf) -> None:
    shelf.write("a.md", "one\u2028still one\x0cand\x85one\x1done\n\nwombat\n")
    [hit] = shelf.vault.search("wombat")
    assert hit.lines[1] == 3
    assert shelf.vault.read("a.md", (3, 3)).text == "wombat\n"


def test_a_card_is_read_as_it_stands_now(shelf: Shelf) -> None:
    file = shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    shelf.write("a.md", "quokka\n")
    assert shelf.vault.read("a.md").text == "quokka\n"
    file.unlink()
    with pytest.raises(PathError):
        shelf.vault.read("a.md")


def test_a_card_that_became_a_link_out_of_the_vault_is_not_read(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret\n")
    file = shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    file.unlink()
    file.symlink_to(tmp_path / "secret.md")
    with pytest.raises(PathError):
        shelf.vault.read("a.md")


@pytest.mark.skipif(not hasattr(__import__("os"), "mkfifo"), reason="no pipes here")
def test_a_card_that_became_a_pipe_does_not_hang_the_reader(shelf: Shelf) -> None:
    import os

    file = shelf.write("a.md", "wombat\n")
    shelf.vault.sync()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(PathError):
        shelf.vault.read("a.md")


@pytest.mark.parametrize("name", ["config", ".cogvaultignore", "notes.txt", "image.png"])
def test_only_cards_are_read(shelf: Shelf, name: str) -> None:
    shelf.write(name, "not for reading\n")
    shelf.vault.sync()
    with pytest.raises(PathError):
        shelf.vault.read(name)


def test_an_ignored_card_is_not_read(shelf: Shelf) -> None:
    shelf.write("private/a.md", "wombat\n")
    shelf.write(".cogvaultignore", "private/\n")
    shelf.vault.sync()
    with pytest.raises(PathError):
        shelf.vault.read("private/a.md")
