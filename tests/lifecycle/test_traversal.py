"""Every argument of the library that is like a path: the same refusal, nothing touched, nothing told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.errors import ConflictError, PathError
from tests.lifecycle.conftest import Desk

ESCAPES = (
    "../secret.md", "/etc/passwd.md", "a/../../secret.md", "a/..", "%2e%2e/secret.md", "..%2fsecret.md",
    "%252e%252e%252fsecret.md", "..\\secret.md", "C:\\secret.md", "../vault-evil/s.md", "x\x00.md", ".archive/a.md",
    "a/.git/x.md", "con.md", "link/secret.md", "link.md", "cogvault://user/../../secret.md",
    "cogvault://user/%2e%2e/%2e%2e/secret.md", "cogvault://resources/..%2fsecret.md", "cogvault://vault/../secret.md",
    "cortex://resources//etc/passwd.md", "cogvault://user/a%00.md", "cogvault://other/x.md", "\udce9.md",
)  # fmt: skip
# Each takes the text where a card is named.
CARDS: dict[str, Callable[[Vault, str], object]] = {
    "read": lambda vault, text: vault.read(text),
    "update": lambda vault, text: vault.update(text, append="x"),
    "supersede old": lambda vault, text: vault.supersede(text, "a.md"),
    "supersede new": lambda vault, text: vault.supersede("a.md", text),
    "history": lambda vault, text: vault.history(text),
    "move": lambda vault, text: vault.move(text, "free.md"),
    "forget": lambda vault, text: vault.forget(text),
    "forget for good": lambda vault, text: vault.forget(text, purge=True),
    "restore": lambda vault, text: vault.restore(text),
    "purge": lambda vault, text: vault.purge(text),
}
# And where a place for one, or a part of the vault.
PLACES: dict[str, Callable[[Vault, str], object]] = {
    "move to": lambda vault, text: vault.move("a.md", text),
    "record to": lambda vault, text: vault.record("new text", to=text),
}


@pytest.fixture
def guarded(desk: Desk) -> Desk:
    base = desk.root.parent
    for path in ("secret.md", "vault-evil/s.md"):
        (base / path).parent.mkdir(exist_ok=True)
        (base / path).write_text("wombat\n")
    desk.write("a.md", "quokka\n")
    (desk.root / "link").symlink_to(base, target_is_directory=True)
    (desk.root / "link.md").symlink_to(base / "secret.md")
    desk.vault.sync()
    return desk


def outside(root: Path) -> dict[str, bytes]:
    base = root.parent
    return {name: (base / name).read_bytes() for name in ("secret.md", "vault-evil/s.md")} | {
        path.name: b"" for path in base.iterdir()
    }


@pytest.mark.parametrize("name", [*CARDS, *PLACES])
def test_no_argument_leads_outside(guarded: Desk, name: str) -> None:
    before = guarded.files(), outside(guarded.root)
    said = set()
    for text in ESCAPES:
        with pytest.raises(PathError) as caught:
            (CARDS | PLACES)[name](guarded.vault, text)
        said.add((caught.value.message, caught.value.hint))
        str(caught.value).encode()
        assert "wombat" not in str(caught.value)
    assert len(said) == 1
    assert (guarded.files(), outside(guarded.root)) == before


@pytest.mark.parametrize("name", CARDS)
def test_what_is_not_there_is_refused_in_the_same_words(guarded: Desk, name: str) -> None:
    said = set()
    for text in ("../secret.md", "../nothing.md", "nothing.md", "cogvault://user/nobody.md", ".hidden.md", "link.md"):
        with pytest.raises(PathError) as caught:
            CARDS[name](guarded.vault, text)
        said.add((caught.value.message, caught.value.hint))
    assert len(said) == 1


@pytest.mark.parametrize("name", PLACES)
def test_what_is_in_the_way_of_a_new_card_is_told_and_stays(guarded: Desk, name: str) -> None:
    (guarded.root / "nowhere.md").symlink_to("gone.md")
    (guarded.root / "folder.md").mkdir()
    (guarded.root / "out.md").symlink_to(guarded.root.parent / "nothing.md")
    before = guarded.files(), outside(guarded.root)
    with pytest.raises(ConflictError, match="a symbolic link that leads nowhere has this name"):
        PLACES[name](guarded.vault, "nowhere.md")
    with pytest.raises(ConflictError, match="a folder, or something else than a file, has this name"):
        PLACES[name](guarded.vault, "folder.md")
    said = set()
    for text in ("out.md", "link.md"):  # there is nothing behind the one, and a file behind the other
        with pytest.raises(PathError, match="no symbolic link leads that ends outside") as caught:
            PLACES[name](guarded.vault, text)
        said.add((caught.value.message, caught.value.hint))
    assert len(said) == 1
    assert (guarded.files(), outside(guarded.root)) == before
    assert not (guarded.root / "gone.md").exists()


@pytest.mark.parametrize("text", ESCAPES, ids=ascii)
def test_no_part_of_a_vault_lies_outside(guarded: Desk, text: str) -> None:
    found: list[object] = []
    said = ""
    for ask in (
        lambda: found.extend(guarded.vault.search("wombat quokka", path=text)),
        lambda: found.extend(guarded.vault.list(text)),
        lambda: found.extend(guarded.vault.tree(text).folders),
        lambda: found.append(guarded.vault.layers(text)),
    ):
        try:
            ask()
        except PathError as error:
            said += str(error)
    assert found == []
    assert "wombat" not in said
    said.encode()


@pytest.mark.parametrize("name", ["a:b.md", "what?.md", "q<1>.md", "a|b.md", "star*.md", 'say "x".md', "a:b/x.md"])
def test_a_name_that_not_every_system_can_have_is_not_made_but_kept_where_it_is(desk: Desk, name: str) -> None:
    desk.write("x.md", "text\n")
    before = desk.files()
    for write in (lambda: desk.vault.record("words", to=name), lambda: desk.vault.move("x.md", name)):
        with pytest.raises(PathError, match="names no card"):
            write()
    assert desk.files() == before
    desk.write(name, "by hand\n")
    assert desk.vault.read(name).text == "by hand\n"
    desk.vault.forget(name)
    assert desk.vault.restore(name).id == name
    if "/" not in name:
        assert desk.vault.move(name, "sub").id == f"sub/{name}"
