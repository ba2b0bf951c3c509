"""Ids, paths and addresses: one grammar, both ways, and nothing outside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cogvault.cards.addresses import (
    DIMENSIONS,
    card_uri,
    find_card,
    has_card,
    is_address,
    paths_of,
    place_of,
    prefix_of,
)
from cogvault.cards.paths import is_usable_name, refusal
from cogvault.errors import PathError
from cogvault.text.normalise import nfc


@dataclass(frozen=True)
class Named:
    id: str


def vault_of(*ids: str) -> list[Named]:
    return [Named(id) for id in sorted(ids)]


names = st.one_of(
    st.text(min_size=1, max_size=10),
    st.sampled_from([*DIMENSIONS, "vault", "a", "Resources", "%41", "50% plan #1 & v=2?", "ordner", "Übersicht"]),
).filter(is_usable_name)
usable_ids = (
    st.lists(names, min_size=1, max_size=4)
    .map(lambda parts: nfc("/".join(parts)) + ".md")
    .filter(lambda id: all(map(is_usable_name, id.split("/"))))
)

STARTS = ("cogvault://user/", "cogvault://resources/", "cortex://session/x/", "cogvault://vault/")
# What must never be a card's name, as a plain path; each is tried in an address too, plain and encoded.
ESCAPES = (
    "..",
    "../x.md",
    "a/../../x.md",
    "a/..",
    "a/./x.md",
    "a//x.md",
    "/etc/passwd",
    "\\\\server\\share\\x.md",
    "..\\x.md",
    "C:\\x.md",
    "C:/x.md",
    ".git/config",
    ".cogvault.toml",
    "a/.obsidian/x.md",
    "\u200b.git/x.md",
    "x.md\x00",
    "x\n.md",
    "nul.md",
    "a/con/x.md",
    "x.md ",
    "x.md.",
    "%2e%2e/x.md",
    "..%2fx.md",
    "%252e%252e/x.md",
    "a%5cx.md",
    "a%00.md",
    "\udce9.md",
    "x" * 300,
)


@given(usable_ids, st.lists(usable_ids, max_size=4))
@example("50% plan #1 & v=2?.md", [])
@example("a.md", ["resources/a.md"])
@example("resources/a.md", ["a.md", "resources/resources/a.md"])
@example("resources/user/a.md", ["user/a.md"])
@example("vault/a.md", ["a.md"])
@example("session.md", ["resources/session.md"])
@example("Resources/a.md", ["resources/Resources/a.md"])
def test_an_address_leads_back_to_the_card_whatever_else_the_vault_holds(id: str, others: list[str]) -> None:
    cards = vault_of(id, *others)
    uri = card_uri(id, partial(has_card, cards))
    assert uri.isascii()
    assert not set(uri) & set(' #?"<>\\\n')
    for text in (id, uri, uri.replace("cogvault", "cortex", 1)):
        found = find_card(cards, text)
        assert found is not None
        assert found.id == id
    assert len({card_uri(card.id, partial(has_card, cards)) for card in cards}) == len({card.id for card in cards})


@pytest.mark.parametrize(
    ("id", "uri"),
    [
        ("a.md", "cogvault://resources/a.md"),
        ("user/ana/goals/a.md", "cogvault://user/ana/goals/a.md"),
        ("session/abc/timeline/2026-05-01_001.md", "cogvault://session/abc/timeline/2026-05-01_001.md"),
        ("resources/papers/a.md", "cogvault://resources/papers/a.md"),
        ("users/a.md", "cogvault://resources/users/a.md"),
        ("user.md", "cogvault://resources/user.md"),
        ("50% plan #1 & v=2?.md", "cogvault://resources/50%25%20plan%20%231%20%26%20v%3D2%3F.md"),
    ],
)
def test_an_address_begins_with_a_dimension(id: str, uri: str) -> None:
    assert card_uri(id, partial(has_card, vault_of(id))) == uri
    assert urlsplit(uri).netloc in DIMENSIONS


def test_of_two_cards_that_one_address_could_mean_it_means_the_one_in_the_folder() -> None:
    cards = vault_of("notes/a.md", "resources/notes/a.md")
    assert card_uri("resources/notes/a.md", partial(has_card, cards)) == "cogvault://resources/notes/a.md"
    assert card_uri("notes/a.md", partial(has_card, cards)) == "cogvault://vault/notes/a.md"
    assert paths_of("cogvault://resources/notes/a.md") == ("resources/notes/a.md", "notes/a.md")
    assert paths_of("cogvault://vault/notes/a.md") == ("notes/a.md",)


def test_a_card_of_another_dimension_has_no_address_in_resources() -> None:
    assert find_card(vault_of("user/a.md"), "cogvault://resources/user/a.md") is None
    assert find_card(vault_of("resources/a.md"), "cogvault://resources/resources/a.md") is None


def test_scheme_and_dimension_may_be_in_any_case_and_a_sloppy_writer_may_leave_signs_unencoded() -> None:
    cards = vault_of("user/50% plan #1 & v=2?.md", "user/Café.md")
    for text in ("COGVAULT://User/50% plan #1 & v=2?.md", "Cortex://USER/50%25 plan%20%231 & v=2?.md"):
        found = find_card(cards, text)
        assert found is not None
        assert found.id == "user/50% plan #1 & v=2?.md"
    assert find_card(cards, "cogvault://user/Cafe\u0301.md") == Named("user/Café.md")
    assert find_card(cards, "user/Cafe\u0301.md") == Named("user/Café.md")
    assert find_card(cards, "User/Café.md") is None


def test_an_address_is_decoded_once() -> None:
    cards = vault_of("user/a%20b.md", "user/a b.md")
    assert card_uri("user/a%20b.md", partial(has_card, cards)) == "cogvault://user/a%2520b.md"
    assert find_card(cards, "cogvault://user/a%2520b.md") == Named("user/a%20b.md")
    assert find_card(cards, "cogvault://user/a%20b.md") == Named("user/a b.md")
    assert find_card(cards, "user/a%20b.md") == Named("user/a%20b.md")


@pytest.mark.parametrize("path", ESCAPES, ids=ascii)
def test_what_could_escape_is_refused_as_path_and_address_plain_and_encoded(path: str) -> None:
    encoded = quote(path, safe="", errors="surrogatepass")
    texts = [path, *(f"{start}{text}" for start in STARTS for text in (path, encoded, encoded.replace("%2F", "/")))]
    for text in texts:
        with pytest.raises(PathError) as caught:
            paths_of(text)
        assert (caught.value.message, caught.value.hint) == (refusal("").message, refusal("").hint)
        str(caught.value).encode()


@pytest.mark.parametrize(
    "text",
    ["", "cogvault://", "cogvault://user", "cogvault://user/", "cogvault:///a.md", "cogvault://other/a.md",
     "cogvault://../a.md", "cogvault://user:1/a.md", "cogvault://user%2fa.md", "cogvault://user/%ff.md",
     "http://user/a.md", "file:///etc/passwd"],
)  # fmt: skip
def test_what_is_no_address_of_a_card_is_refused(text: str) -> None:
    with pytest.raises(PathError):
        paths_of(text)


@given(st.text(max_size=30), st.sampled_from(["", *STARTS, "cogvault://"]))
@example("%2e%2e/%2e%2e/etc/passwd", "cogvault://user/")
@example("..%252f..%252fx.md", "cogvault://user/")
def test_whatever_is_asked_every_place_lies_inside(text: str, start: str) -> None:
    try:
        places = (*paths_of(start + text), *prefix_of(start + text).inside)
    except PathError:
        return
    for path in places:
        assert not path.startswith("/")
        assert path == "" or all(map(is_usable_name, path.split("/")))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("", {"a.md", "ab/x.md", "a/x.md", "user/ana/p.md", "user/an/p.md", "resources/a/r.md"}),
        ("cogvault://", {"a.md", "ab/x.md", "a/x.md", "user/ana/p.md", "user/an/p.md", "resources/a/r.md"}),
        ("a", {"a/x.md"}),
        ("a/", {"a/x.md"}),
        ("./A", {"a/x.md"}),
        ("a.md", {"a.md"}),
        ("user", {"user/ana/p.md", "user/an/p.md"}),
        ("cogvault://user", {"user/ana/p.md", "user/an/p.md"}),
        ("cortex://user/an/", {"user/an/p.md"}),
        ("cogvault://resources/", {"a.md", "ab/x.md", "a/x.md", "resources/a/r.md"}),
        ("cogvault://resources/a", {"a/x.md", "resources/a/r.md"}),
        ("cogvault://vault/a", {"a/x.md"}),
        ("cogvault://session", set()),
    ],
)
def test_a_prefix_ends_at_a_path_boundary(text: str, held: set[str]) -> None:
    ids = ("a.md", "ab/x.md", "a/x.md", "user/ana/p.md", "user/an/p.md", "resources/a/r.md")
    assert {id for id in ids if prefix_of(text).holds(id)} == held


@given(usable_ids, st.lists(usable_ids, max_size=3))
def test_a_card_lies_in_every_beginning_of_its_address(id: str, others: list[str]) -> None:
    uri = card_uri(id, partial(has_card, vault_of(id, *others)))
    assume(not uri.startswith("cogvault://vault/"))
    places = uri.split("/")
    for end in range(3, len(places) + 1):
        assert prefix_of("/".join(places[:end])).holds(id)


@pytest.mark.parametrize(
    "text",
    ["..", "a/../b", "../x", "%2e%2e", "cogvault://user/..", "cogvault://nowhere/", ".git", "/", "/a", "user\\an"],
)
def test_a_prefix_that_could_escape_is_refused(text: str) -> None:
    with pytest.raises(PathError):
        prefix_of(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a", "a"),
        ("../x", "../x"),
        ("cogvault://user/an", "user/an"),
        ("cogvault://user/", "user"),
        ("cogvault://resources/a", "resources/a"),
        ("cogvault://resources/ab/x.md", "ab/x.md"),
        ("cogvault://resources/nothing", "nothing"),
        ("cogvault://resources/", "resources"),
        ("cogvault://", ""),
    ],
)
def test_an_address_of_a_card_or_folder_is_a_path(text: str, place: str) -> None:
    ids = ("a.md", "ab/x.md", "a/x.md", "user/ana/p.md", "user/an/p.md", "resources/a/r.md")
    assert place_of(vault_of(*ids), text) == place


def test_only_the_two_schemes_make_an_address() -> None:
    assert is_address("cogvault://user/a.md")
    assert is_address("cortex://user/a.md")
    assert not any(map(is_address, ("a.md", "cogvault:user/a.md", "cogvaults://user/a.md", "http://user/a.md")))
