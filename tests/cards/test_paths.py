from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.paths import is_hidden, is_usable_name, printable, resolve_inside
from cogvault.errors import PathError

REFUSED = [
    "",
    ".",
    "..",
    "../x.md",
    "a/../x.md",
    "a/../../x.md",
    "a/..",
    "/etc/passwd",
    "//server/share/x.md",
    "a//x.md",
    "a/",
    "./x.md",
    "a/./x.md",
    "..\\x.md",
    "work\\notes.md",
    "\\\\server\\share",
    "C:/x.md",
    "c:",
    "C:\\x.md",
    "x.md\x00.png",
    "x\ny.md",
    "x\x7f.md",
    "%2e%2e/x.md",
    "..%2fx.md",
    "%2E%2E%2Fx.md",
    "a%5c..%5cx.md",
    "%252e%252e/x.md",
    "%2egit/config",
    "x%00.md",
    ".git/config",
    "a/.obsidian/x.md",
    ".cogvault.toml",
    "\u200b.git/config",
    "\u2060../x.md",
    "．．/x.md",
    "․․/x.md",
    "‥/x.md",
    "…/x.md",
    ".. /x.md",
    "a./x.md",
    "a /x.md",
    "x.md.",
    "con",
    "CON.md",
    "nul.tar.md",
    "a/aux/x.md",
    "COM1.md",
    "lpt¹.md",
    "ｎｕｌ.md",
    "con .md",
    "\ud800.md",
    "caf\udce9.md",
    "x" * 256,
    "я" * 128,
]
USABLE = [
    "x.md",
    "a/b/c.md",
    "-draft.md",
    "50% plan #1 & v=2?.md",
    "100%25.md",
    "note: a.md",
    "Café.md",
    "Cafe\u0301.md",
    "…and more.md",
    "設備／清單.md",
    "นโยบาย.md",
    "👩‍🚀.md",
    "a..b.md",
    "console.md",
    "com10.md",
    "nulls/x.md",
    "я" * 127,
]


@pytest.mark.parametrize("id", REFUSED)
def test_a_path_that_could_leave_the_vault_or_fool_someone_is_refused(tmp_path: Path, id: str) -> None:
    with pytest.raises(PathError) as caught:
        resolve_inside(tmp_path, id)
    str(caught.value).encode()  # can be printed


@pytest.mark.parametrize("id", USABLE)
def test_an_ordinary_path_is_resolved_literally(tmp_path: Path, id: str) -> None:
    assert resolve_inside(tmp_path, id) == tmp_path.resolve() / id


@pytest.fixture
def neighbors(tmp_path: Path) -> Path:
    """A vault beside folders that must stay out of reach."""
    for folder in ("vault", "vault/sub", "vault-evil", "vaul"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.md").write_text("secret")
    return tmp_path / "vault"


@pytest.mark.parametrize("id", ["../vault-evil/s.md", "../vaul/s.md", "sub/../../vault-evil/s.md"])
def test_a_sibling_with_the_same_prefix_is_outside(neighbors: Path, id: str) -> None:
    with pytest.raises(PathError):
        resolve_inside(neighbors, id)


def test_an_absolute_path_is_refused_even_when_it_lies_inside(neighbors: Path) -> None:
    with pytest.raises(PathError):
        resolve_inside(neighbors, str(neighbors / "s.md"))


def test_links_may_lead_to_usable_paths_of_the_vault_only(neighbors: Path) -> None:
    (neighbors / ".hidden").mkdir()
    (neighbors / ".hidden" / "s.md").write_text("secret")
    (neighbors / "in.md").symlink_to("sub/s.md")
    (neighbors / "out.md").symlink_to("../vault-evil/s.md")
    (neighbors / "nowhere.md").symlink_to("../vault-evil/nothing.md")
    (neighbors / "folder").symlink_to("../vault-evil")
    (neighbors / "hid.md").symlink_to(".hidden/s.md")
    assert resolve_inside(neighbors, "in.md").read_text() == "secret"
    for id in ("out.md", "nowhere.md", "folder/s.md", "folder/new.md", "hid.md"):
        with pytest.raises(PathError):
            resolve_inside(neighbors, id)


def test_a_vault_that_is_itself_a_link_is_resolved(neighbors: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("vault")
    assert resolve_inside(tmp_path / "link", "s.md") == neighbors.resolve() / "s.md"


def test_a_refusal_says_the_same_whether_or_not_something_exists(neighbors: Path) -> None:
    (neighbors / "here.md").symlink_to("../vault-evil/s.md")
    (neighbors / "gone.md").symlink_to("../vault-evil/gone.md")
    messages = set()
    for id in ("../vault-evil/s.md", "../vault-evil/gone.md", "/etc/passwd", "/etc/nothing", "here.md", "gone.md"):
        with pytest.raises(PathError) as caught:
            resolve_inside(neighbors, id)
        messages.add((caught.value.message, caught.value.hint))
    assert len(messages) == 1


@given(
    parts=st.lists(
        st.one_of(
            st.sampled_from(
                ["..", ".", "", "a", "vault-evil", "%2e%2e", "..%2f", "．．", ".git", "C:", "nul", "\u200b.."]
            ),
            st.text(max_size=12),
        ),
        max_size=6,
    ),
    separator=st.sampled_from(["/", "\\", "%2f"]),
)
def test_whatever_is_asked_the_answer_lies_inside(parts: list[str], separator: str) -> None:
    root = Path("/srv/vault")
    try:
        path = resolve_inside(root, separator.join(parts))
    except PathError:
        return
    assert os.path.normpath(path) == str(path)
    assert path.is_relative_to(root.resolve())
    assert path != root.resolve()
    assert not any(part.startswith(".") for part in path.relative_to(root.resolve()).parts)


@given(name=st.text(max_size=40))
def test_names_are_judged_without_failing_and_printable_is_printable(name: str) -> None:
    is_usable_name(name)
    is_hidden(name)
    printable(name).encode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses these names itself")
def test_a_usable_name_can_be_a_file(tmp_path: Path) -> None:
    for id in USABLE:
        path = resolve_inside(tmp_path, id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        assert path.is_file()


@given(name=st.text("conauxCOM1lpt. -_%m\u00e9", min_size=1, max_size=12))
def test_a_usable_name_is_no_device_and_ends_well(name: str) -> None:
    device = name.casefold().split(".")[0].strip() in {"con", "aux", "com1", "lpt1"}
    if device or name.startswith(".") or name.endswith((".", " ")):
        assert not is_usable_name(name)
    elif "%" not in name:
        assert is_usable_name(name)
