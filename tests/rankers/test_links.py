from __future__ import annotations

import pytest

from cogvault.rankers.links import LinkGraph
from tests.retrieval.world import World


def graph(files: dict[str, str]) -> LinkGraph:
    return LinkGraph(World(files, embedder=None).index.snapshot().cards)


def test_links_lead_both_ways() -> None:
    links = graph({"a.md": "[[b]]", "b.md": "", "c.md": "[[a]] [[b]]"})
    assert links.related("a.md") == ("b.md", "c.md")
    assert links.related("b.md") == ("a.md", "c.md")
    assert links.backlinks("b.md") == ("a.md", "c.md")
    assert links.backlinks("c.md") == ()


def test_own_links_come_before_backlinks_in_the_order_of_the_text() -> None:
    assert graph({"a.md": "[[d]] [[c]]", "b.md": "[[a]]", "c.md": "", "d.md": ""}).related("a.md") == (
        "d.md",
        "c.md",
        "b.md",
    )


def test_each_card_is_related_once() -> None:
    assert graph({"a.md": "[[b]] [[b|again]] ![[b#part]]", "b.md": "[[a]]"}).related("a.md") == ("b.md",)


def test_ghosts_and_links_to_oneself_lead_nowhere() -> None:
    links = graph({"a.md": "[[ghost]] [[a]] [[#part]]"})
    assert links.related("a.md") == ()
    assert links.backlinks("a.md") == ()


def test_a_ghost_goes_live_when_its_target_appears() -> None:
    world = World({"a.md": "[[later]]"}, embedder=None)
    assert LinkGraph(world.index.snapshot().cards).related("a.md") == ()
    world.put({"later.md": "here"})
    assert LinkGraph(world.index.snapshot().cards).related("a.md") == ("later.md",)


def test_links_in_code_do_not_count() -> None:
    assert graph({"a.md": '`[[b]]`\n\n```sh\n[[ -n "$b" ]] [[b]]\n```\n', "b.md": ""}).related("a.md") == ()


@pytest.mark.parametrize("target", ["overview", "[[todo]]"])
def test_a_link_is_never_guessed(target: str) -> None:
    assert graph({"a.md": f"[[{target}]]", "another-todo.md": "", "overview (x).md": ""}).related("a.md") == ()


def test_a_markdown_link_is_relative_to_its_own_folder_first() -> None:
    links = graph({"n/a.md": "see [the list](todo.md)", "n/todo.md": "", "todo.md": ""})
    assert links.related("n/a.md") == ("n/todo.md",)


def test_a_stem_in_the_same_folder_wins() -> None:
    links = graph({"a/x.md": "[[todo]]", "a/todo.md": "", "b/todo.md": ""})
    assert links.related("a/x.md") == ("a/todo.md",)


def test_an_unknown_card_is_related_to_nothing() -> None:
    assert graph({"a.md": ""}).related("b.md") == ()
