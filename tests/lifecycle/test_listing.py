"""Lists and trees by address."""

from __future__ import annotations

import json
import os
import unicodedata

import pytest

from cogvault import fenced
from cogvault.errors import PathError, QueryError
from cogvault.types import Folder
from tests.lifecycle.conftest import Desk

IDS = ("a.md", "ab/x.md", "a/x.md", "user/ana/goals/p.md", "user/an/p.md", "resources/a/r.md", "50% plan #1 & v=2?.md")


@pytest.fixture
def library(desk: Desk) -> Desk:
    for id in IDS:
        desk.write(id, f"---\ntype: note\ntags: [t]\n---\n# Title of {id}\n")
    return desk


def test_a_list_tells_what_a_card_is(library: Desk) -> None:
    library.write("old.md", "---\nvalid_until: 2026-05-01\ndate: 2026-04-01\n---\nx\n")
    [card] = library.vault.list("old.md")
    assert (card.id, card.uri, card.title, card.type, card.tags, card.valid) == (
        "old.md", "cogvault://resources/old.md", "old", None, (), "expired",
    )  # fmt: skip
    assert card.dated.isoformat() == "2026-04-01T00:00:00+00:00"
    assert card.size == (library.root / "old.md").stat().st_size
    json.dumps(card.to_dict())


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("", set(IDS)),
        ("a", {"a/x.md"}),
        ("a/", {"a/x.md"}),
        ("user/an", {"user/an/p.md"}),
        ("cogvault://user/ana", {"user/ana/goals/p.md"}),
        ("cortex://user/", {"user/ana/goals/p.md", "user/an/p.md"}),
        ("cogvault://resources/a", {"a/x.md", "resources/a/r.md"}),
        ("cogvault://resources", {"a.md", "ab/x.md", "a/x.md", "resources/a/r.md", "50% plan #1 & v=2?.md"}),
        ("cogvault://session", set()),
        ("nothing", set()),
    ],
)
def test_a_prefix_selects_the_same_cards_everywhere(library: Desk, prefix: str, expected: set[str]) -> None:
    assert {card.id for card in library.vault.list(prefix)} == expected
    assert library.vault.tree(prefix).count == len(expected)
    assert {hit.id for hit in library.vault.search("title", k=20, path=prefix)} == expected


def test_every_listed_address_opens_its_own_card(library: Desk) -> None:
    library.write("resources/a/x.md", "# another x\n")
    cards = library.vault.list()
    assert len({card.uri for card in cards}) == len(IDS) + 1
    for card in cards:
        assert library.vault.read(card.uri).id == card.id
        assert [listed.id for listed in library.vault.list(card.uri)] == [card.id] or card.id == "resources/a/x.md"
        [hit] = [hit for hit in library.vault.search(card.title, k=20) if hit.id == card.id]
        assert hit.uri == card.uri


def test_of_folders_that_differ_in_case_only_the_named_one_is_meant(desk: Desk) -> None:
    for name in ("Ana", "ana"):
        desk.vault.session(name).append("Bob", f"The wombat was told to {name}.", at="2026-05-01T10:00:00Z")
    if (desk.root / "session/ANA").exists():
        pytest.skip("this disk does not tell names by case")
    for name in ("Ana", "ana"):
        session = desk.vault.session(name)
        ids = [f"session/{name}/timeline/2026-05-01_001.md"]
        for place in (session.folder, session.uri, f"session/{name}/", ids[0]):
            assert [hit.id for hit in desk.vault.search("wombat", path=place)] == ids
            assert [card.id for card in desk.vault.list(place)] == ids
    everything = ["session/Ana/timeline/2026-05-01_001.md", "session/ana/timeline/2026-05-01_001.md"]
    assert [card.id for card in desk.vault.list("SESSION/ANA")] == everything
    assert sorted(hit.id for hit in desk.vault.search("wombat", path="SESSION/ANA")) == everything


def test_of_folders_that_differ_in_normal_form_only_either_spelling_gives_all_cards(desk: Desk) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café") for form in ("NFC", "NFD"))
    desk.write(f"{composed}/a.md", "The wombat was told to one.\n")
    if (desk.root / decomposed).exists():
        pytest.skip("this disk does not tell names by normal form")
    desk.write(f"{decomposed}/a.md", "The wombat was told to two.\n")
    desk.write(f"{decomposed}/b.md", "The wombat was told to three.\n")
    desk.write("café2/a.md", "The wombat was told to four.\n")
    ids = sorted([f"{decomposed}/a.md", f"{composed}/a.md", f"{composed}/b.md"])
    for place in (composed, decomposed):
        assert [card.id for card in desk.vault.list(place)] == ids
        assert sorted(hit.id for hit in desk.vault.search("wombat", path=place)) == ids


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("prefix", ["", "user"])
def test_pages_give_the_list_whatever_their_size(library: Desk, prefix: str, limit: int) -> None:
    whole = library.vault.list(prefix)
    assert len(whole) > 1
    pages = [library.vault.list(prefix, limit=limit)]
    while pages[-1]:
        pages.append(library.vault.list(prefix, after=pages[-1][-1].id, limit=limit))
    assert [card for page in pages for card in page] == list(whole)
    assert all(len(page) == limit for page in pages[:-2])
    assert library.vault.list(prefix, after=whole[0].id + "!") == whole[1:]  # an id that is not there


@pytest.mark.parametrize("limit", [0, -1])
def test_a_page_of_no_cards_is_refused(library: Desk, limit: int) -> None:
    with pytest.raises(QueryError, match="not a number of cards"):
        library.vault.list(limit=limit)


def test_a_tree_is_the_list_in_folders(library: Desk) -> None:
    tree = library.vault.tree()

    def walk(folder: Folder) -> list[str]:
        own = [card.id for card in folder.cards]
        assert own == sorted(own)
        assert folder.count == len(own) + sum(inner.count for inner in folder.folders)
        assert all(inner.path == f"{folder.path}/{inner.name}".lstrip("/") for inner in folder.folders)
        return own + [id for inner in folder.folders for id in walk(inner)]

    assert sorted(walk(tree)) == sorted(IDS)
    assert [folder.path for folder in tree.folders] == ["a", "ab", "resources", "user"]
    json.dumps(tree.to_dict())


def test_a_list_is_as_new_as_the_files(library: Desk) -> None:
    library.vault.list()
    library.write("new.md", "x\n")
    (library.root / "a.md").unlink()
    listed = [card.id for card in library.vault.list()]
    assert "new.md" in listed
    assert "a.md" not in listed


def test_the_folders_of_addresses_belong_to_a_flat_vault(library: Desk) -> None:
    flat = library.open(recursive=False)
    assert [card.id for card in flat.list()] == [
        "50% plan #1 & v=2?.md", "a.md", "resources/a/r.md", "user/an/p.md", "user/ana/goals/p.md",
    ]  # fmt: skip


@pytest.mark.parametrize("prefix", ["..", "a/../..", "cogvault://user/..%2f..", "%2e%2e", ".git", "cogvault://x/"])
def test_a_prefix_that_could_escape_is_refused(library: Desk, prefix: str) -> None:
    for call in (library.vault.list, library.vault.tree):
        with pytest.raises(PathError):
            call(prefix)


@pytest.mark.parametrize(
    ("head", "is_due"),
    [
        ("review_by: 2026-06-01", True),
        ("review_by: 2026-06-02", False),
        ("metadata:\n  review_by: 2026-05-31", True),
        ("review_by: soon", False),
        ("title: x", False),
    ],
)
def test_a_card_that_is_to_be_looked_at_again_is_marked(desk: Desk, head: str, is_due: bool) -> None:
    os.utime(desk.write("a.md", f"---\n{head}\n---\nx\n"), (0, 0))
    [card] = desk.vault.list()
    assert (card.review_due, card.valid) == (is_due, "current")
    assert card.marks == (("review due",) if is_due else ())
    [item] = desk.vault.sweep().items
    assert item.reason.endswith(", review due") == is_due


def test_an_answer_tells_that_a_review_is_due(desk: Desk) -> None:
    desk.write("a.md", "---\nreview_by: 2026-05-01\n---\nThe quokka naps at noon.\n")
    desk.write("b.md", "---\nreview_by: 2026-05-01\nvalid_until: 2026-05-02\n---\nThe quokka naps at one.\n")
    desk.write("c.md", "---\nreview_by: 2027-05-01\n---\nThe quokka naps at two.\n")
    hits = desk.vault.search("When does the quokka nap?", min_score=0.0, budget_tokens=500)
    marks = {hit.id: hit.marks for hit in hits}
    assert marks == {"a.md": ("review due",), "b.md": ("expired", "review due"), "c.md": ()}
    assert {passage.card: "review due" in passage.note for passage in hits.passages} == {
        "a.md": True,
        "b.md": True,
        "c.md": False,
    }
    assert 'validity="expired, review due"' in fenced(hits, 900).text
    assert next(hit for hit in hits if hit.id == "a.md").to_dict()["review_due"] is True


@pytest.mark.parametrize("layer", ["L0", "L1"])
def test_hits_show_the_layer_that_is_asked_for(desk: Desk, layer: str) -> None:
    sentences = " ".join(
        f"The quokka number {number} naps near the {number}th pond of the park." for number in range(40)
    )
    desk.write("a.md", f"---\ndescription: Where quokkas nap.\n---\n# Quokkas\n\n{sentences}\n")
    [hit] = desk.vault.search("quokka number 17", layer=layer)
    layers = desk.vault.layers("a.md")
    assert (hit.layer, hit.text) == (layer, layers.abstract if layer == "L0" else layers.overview)
    [chunk] = desk.vault.search("quokka number 17", layer="L2")
    assert (chunk.layer, chunk.lines) == ("L2", hit.lines)
    assert chunk.text != hit.text
