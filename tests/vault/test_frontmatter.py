"""Frontmatter as people write it, from the file to the answer."""

from __future__ import annotations

import json

import pytest

from tests.vault.conftest import Shelf


def test_a_byte_order_mark_hides_no_field_and_shows_nowhere(shelf: Shelf) -> None:
    shelf.write("a.md", b"\xef\xbb\xbf---\ntitle: Night shift\ntags: [ops]\n---\nThe pager rings.\n")
    [hit] = shelf.vault.search("pager", tags="ops")
    assert hit.title == "Night shift"
    assert "\ufeff" not in hit.title + hit.text + hit.snippet + shelf.vault.read("a.md").text


def test_crlf_gives_the_same_card_as_lf(shelf: Shelf) -> None:
    text = "---\ntitle: Night shift\ntags: [ops, on call]\ncreated: 2026-05-01\n---\n# One\n\npager\n\n## Two\n\nrota\n"
    shelf.write("lf.md", text)
    shelf.write("crlf.md", text.replace("\n", "\r\n"))
    lf, crlf = shelf.card("lf.md"), shelf.card("crlf.md")
    assert (crlf.title, crlf.tags, crlf.created, crlf.chunks) == (lf.title, lf.tags, lf.created, lf.chunks)
    one, two = sorted(shelf.vault.search("rota"), key=lambda hit: hit.id)
    assert (one.text, one.lines, one.heading) == (two.text, two.lines, two.heading)
    assert shelf.vault.read("crlf.md").text == text


@pytest.mark.parametrize(
    ("block", "line"),
    [
        pytest.param("title: Ops: night shift", 2, id="colon in a value"),
        pytest.param("tags: [a\ntitle: x", 3, id="list that never ends"),
        pytest.param("kind: note\n\ttitle: x", 3, id="tab as indentation"),
        pytest.param("title: x\nkey: *nobody", 3, id="alias of nothing"),
    ],
)
def test_a_block_that_is_no_yaml_costs_only_itself(shelf: Shelf, block: str, line: int) -> None:
    shelf.write("plain.md", f"---\n{block}\n---\n# From the heading\n\nwombat below\n")
    shelf.write("unnamed.md", f"---\n{block}\n---\nquokka below\n")
    assert shelf.found("wombat") == ["plain.md"]
    assert [shelf.card(id).title for id in ("plain.md", "unnamed.md")] == ["From the heading", "unnamed"]
    problems = shelf.problems("frontmatter-invalid")
    assert [(problem.path, problem.line) for problem in problems] == [("plain.md", line), ("unnamed.md", line)]
    assert not shelf.card("plain.md").writable


def test_a_tab_after_a_colon_keeps_the_card(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntitle:\tNight shift\n---\nwombat\n")
    assert shelf.found("wombat") == ["a.md"]
    assert shelf.card("a.md").title == "Night shift"


def test_a_title_that_looks_like_a_date_is_text(shelf: Shelf) -> None:
    shelf.write("daily.md", "---\ntitle: 2026-05-26\n---\nwombat\n")
    hits = shelf.vault.search("2026-05-26")
    assert [hit.title for hit in hits] == ["2026-05-26"]
    assert json.loads(json.dumps(hits.to_dict()))["hits"][0]["title"] == "2026-05-26"


@pytest.mark.parametrize(
    ("written", "tags"),
    [("tags: alpha, beta", ("alpha", "beta")), ("tags: tool", ("tool",)), ("tags: '#a #b'", ("a", "b"))],
)
def test_tags_are_words_however_they_are_written(shelf: Shelf, written: str, tags: tuple[str, ...]) -> None:
    shelf.write("a.md", f"---\n{written}\n---\nwombat\n")
    shelf.write("b.md", "wombat\n")
    assert shelf.found("wombat", tags=tags) == ["a.md"]
    assert shelf.card("a.md").tags == tags


def test_dashes_in_values_and_bodies_close_nothing(shelf: Shelf) -> None:
    shelf.write(
        "a.md", "---\ntitle: a---b\nnote: 'x --- y'\n---\nfirst wombat\n\n---\n\nsecond quokka\n\n---\n\nlast bilby\n"
    )
    assert shelf.card("a.md").title == "a---b"
    for word in ("wombat", "quokka", "bilby"):
        assert shelf.found(word) == ["a.md"]


def test_an_unterminated_block_is_searchable_text_and_flagged(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntitle: Nowhere\n\nwombat text\n")
    assert shelf.found("wombat") == ["a.md"]
    assert shelf.found("Nowhere") == ["a.md"]
    [problem] = shelf.problems("frontmatter-unterminated")
    assert (problem.path, shelf.card("a.md").writable) == ("a.md", False)


def test_one_odd_value_costs_no_other(shelf: Shelf) -> None:
    shelf.write(
        "a.md",
        "---\ntitle: Fine\ntype: [a, b]\ncreated: never\nimportance: {a: 1}\n"
        "extra:\n  deep: [1, 2]\nowner: ana\n---\nwombat\n",
    )
    assert shelf.found("wombat", where={"owner": "ana"}) == ["a.md"]
    card = shelf.card("a.md")
    assert (card.title, card.type, card.created, card.importance) == ("Fine", None, None, None)
    assert {problem.key for problem in card.problems} == {"type", "created", "importance"}
    assert {problem.line for problem in card.problems} == {3, 4, 5}


@pytest.mark.parametrize("block", ["- a\n- b", "hello", "", "42", "[]", "~", "# only a comment"])
def test_a_block_that_holds_no_keys_is_no_metadata(shelf: Shelf, block: str) -> None:
    shelf.write("a.md", f"---\n{block}\n---\nwombat\n")
    assert shelf.found("wombat") == ["a.md"]
    card = shelf.card("a.md")
    assert (dict(card.meta), card.title) == ({}, "a")
    assert [problem.path for problem in card.problems] == ["a.md"]


def test_aliases_that_explode_are_refused_and_said(shelf: Shelf) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    shelf.write("bomb.md", "\n".join(["---", "a0: &a0 [x, x]", *levels, "---", "wombat"]))
    assert shelf.found("wombat") == ["bomb.md"]
    assert [problem.path for problem in shelf.problems("frontmatter-alias-bomb")] == ["bomb.md"]
    assert len(json.dumps(shelf.vault.search("wombat").to_dict())) < 10_000


def test_the_last_of_equal_keys_counts_and_is_reported(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntitle: One\ntitle: Two\n---\nwombat\n")
    assert shelf.card("a.md").title == "Two"
    assert [problem.line for problem in shelf.problems("frontmatter-duplicate-key")] == [3]
