from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import pytest

from cogvault.cards import LinkResolver, Resolution
from cogvault.types import LinkKind


@dataclass(frozen=True)
class Entry:
    id: str
    title: str = ""
    name: str | None = None
    aliases: tuple[str, ...] = ()
    type: str | None = None


def resolve(target: str, *cards: Entry | str, source: str = "source.md", kind: LinkKind = LinkKind.WIKI) -> str | None:
    entries = [Entry(card) if isinstance(card, str) else card for card in cards]
    return LinkResolver(entries).resolve(target, source_id=source, kind=kind).id


def test_path_comes_before_name_and_name_before_stem() -> None:
    path, name, stem = Entry("x.md"), Entry("b.md", name="x"), Entry("deep/x.md")
    assert resolve("x", stem, name, path) == "x.md"
    assert resolve("x", stem, name) == "b.md"
    assert resolve("x", stem) == "deep/x.md"


def test_aliases_and_titles_are_names() -> None:
    assert resolve("Sign in", Entry("a.md", aliases=("Sign in",))) == "a.md"
    assert resolve("CI/CD: how", Entry("a.md", title="CI/CD: how")) == "a.md"


def test_exact_comes_before_other_separators_and_those_before_prefixes() -> None:
    exact, separated, prefixed = "user-auth.md", "user_auth.md", "project_user-auth.md"
    assert resolve("user-auth", prefixed, separated, exact) == exact
    assert resolve("user-auth", prefixed, separated) == separated
    assert resolve("user-auth", prefixed) == prefixed


@pytest.mark.parametrize("target", ["user auth", "user_auth", "User-Auth", "user--auth"])
def test_separators_are_alike(target: str) -> None:
    assert resolve(target, "dir/user-auth.md") == "dir/user-auth.md"


def test_a_type_prefix_may_be_left_out_or_added() -> None:
    assert resolve("user auth", "project_user-auth.md") == "project_user-auth.md"
    assert resolve("project_user-auth", "a/user-auth.md") == "a/user-auth.md"
    assert resolve("rota", "runbook_rota.md") is None
    assert resolve("rota", Entry("runbook_rota.md", type="Runbook")) == "runbook_rota.md"


@pytest.mark.parametrize("target", ["todo", "overview (x)", "tod", "todo-x", "my/todo", "another"])
def test_no_suffix_and_no_likeness_resolves(target: str) -> None:
    assert resolve(target, "another-todo.md", "overview.md", "x/another-todo.md") is None


def test_equal_stems_same_folder_then_shortest_path_then_alphabet() -> None:
    cards = ["b/todo.md", "a/todo.md", "a/b/todo.md", "c/d/todo.md"]
    assert resolve("todo", *cards, source="b/x.md") == "b/todo.md"
    assert resolve("todo", *cards, source="c/d/x.md") == "c/d/todo.md"
    assert resolve("todo", *cards, source="x.md") == "a/todo.md"


def test_ambiguity_is_told_with_all_candidates() -> None:
    resolver = LinkResolver([Entry("a/todo.md"), Entry("b/todo.md"), Entry("c.md")])
    assert resolver.resolve("todo", source_id="b/x.md") == Resolution("b/todo.md", ("b/todo.md", "a/todo.md"))
    assert resolver.resolve("c", source_id="b/x.md") == Resolution("c.md")
    assert resolver.resolve("ghost", source_id="b/x.md") == Resolution(None)


def test_names_of_one_card_are_not_ambiguous() -> None:
    resolver = LinkResolver([Entry("dir/a.md", title="Auth", name="auth", aliases=("AUTH", "auth"))])
    assert resolver.resolve("auth", source_id="x.md") == Resolution("dir/a.md")


def test_exact_case_wins_and_any_case_will_do() -> None:
    assert resolve("Note", "note.md", "Note.md") == "Note.md"
    assert resolve("note", "note.md", "Note.md") == "note.md"
    assert resolve("NOTE.MD", "note.md") == "note.md"
    assert resolve("Straße", "STRASSE.md") == "STRASSE.md"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_names_meet(form: str) -> None:
    id = unicodedata.normalize("NFD" if form == "NFC" else "NFC", "Café.md")
    assert resolve(unicodedata.normalize(form, "Café"), id) == id  # type: ignore[arg-type]


def test_invisible_characters_do_not_matter() -> None:
    assert resolve("👩‍💻 desk", Entry("a.md", title="👩\u200d💻 desk")) == "a.md"
    assert resolve("pass\u200bword", "password.md") == "password.md"


def test_paths_are_exact_from_the_vault_or_relative() -> None:
    cards = ["b/x.md", "a/b/x.md", "a/y.md"]
    assert resolve("b/x", *cards, source="a/s.md") == "b/x.md"
    assert resolve("./b/x", *cards, source="a/s.md") == "a/b/x.md"
    assert resolve("../y.md", *cards, source="a/b/s.md") == "a/y.md"
    assert resolve("/a/y", *cards, source="b/s.md") == "a/y.md"
    assert resolve("my dir/a b", "my-dir/a_b.md") == "my-dir/a_b.md"


def test_a_markdown_link_is_relative_to_its_own_folder_first() -> None:
    cards = ["todo.md", "a/todo.md"]
    assert resolve("todo.md", *cards, source="a/x.md", kind=LinkKind.MARKDOWN) == "a/todo.md"
    assert resolve("todo.md", *cards, source="a/x.md") == "todo.md"
    assert resolve("a/todo.md", *cards, source="b/x.md", kind=LinkKind.MARKDOWN) == "a/todo.md"


@pytest.mark.parametrize("target", ["../../etc/passwd", "../x", "/../x", "..", ".", "/", "./", "../../x/../x"])
def test_no_path_leaves_the_vault(target: str) -> None:
    assert resolve(target, "x.md", "etc/passwd.md", source="a.md") is None


def test_a_link_to_a_place_in_the_card_itself() -> None:
    assert resolve("", "x.md", source="x.md") == "x.md"


def test_suggestions_are_the_most_like_first() -> None:
    resolver = LinkResolver([Entry("user-auth.md", title="Sign in"), Entry("user-auto.md"), Entry("zebra.md")])
    assert resolver.suggest("usr-auth") == ["user-auth.md", "user-auto.md"]
    assert resolver.suggest("Sing in") == ["user-auth.md"]
    assert resolver.suggest("quite different") == []


def test_many_cards_of_one_name_keep_the_list_of_candidates_short() -> None:
    resolver = LinkResolver([Entry(f"{n}/readme.md") for n in range(500)])
    found = resolver.resolve("readme", source_id="499/x.md")
    assert (found.id, len(found.ambiguous)) == ("499/readme.md", 21)
