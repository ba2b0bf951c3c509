from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.links import LinkResolver
from cogvault.rankers.links import LinkGraph
from cogvault.types import Card, CardInfo, Link, LinkKind, Stamp
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


def _card(id: str, links: tuple[str, ...], name: str | None, type: str | None) -> CardInfo:
    return CardInfo(
        id,
        id,
        id.removesuffix(".md"),
        datetime(2026, 1, 1, tzinfo=UTC),
        Stamp(1, 1, 1),
        "",
        name=name,
        type=type,
        links=tuple(Link(target, LinkKind.WIKI, 1) for target in links),
    )


_TARGETS = ("a", "A", "x/a", "../a", "project_a", "a-b", "a b", "note_a-b", "b.md", "./b", "b/.", "", "c")
_targets = st.sampled_from(_TARGETS)
_cards = st.builds(
    _card,
    st.sampled_from(["a.md", "A.md", "x/a.md", "y/a.md", "project_a.md", "note_a-b.md", "x/a b.md", "b.md", "c.md"]),
    st.lists(_targets, max_size=4).map(tuple),
    st.none() | st.sampled_from(["a", "c", "x/a", "A B"]),
    st.none() | st.sampled_from(["note", "project", "meeting"]),
)
_snapshots = st.lists(_cards, max_size=8, unique_by=lambda card: card.id).map(
    lambda cards: sorted(cards, key=lambda card: card.id)
)


def _by_hand(cards: list[CardInfo]) -> dict[str, tuple[str, ...]]:
    """Every link resolved by a resolver made for these cards."""
    resolver = LinkResolver(cards)
    to = {
        card.id: [resolver.resolve(link.target, source_id=card.id, kind=link.kind).id for link in card.links]
        for card in cards
    }
    return {
        card.id: tuple(
            dict.fromkeys(
                id
                for id in (*to[card.id], *(other.id for other in cards if card.id in to[other.id]))
                if id is not None and id != card.id
            )
        )
        for card in cards
    }


@given(first=_snapshots, second=_snapshots, data=st.data())
def test_a_graph_that_follows_is_the_graph_made_anew(
    first: list[CardInfo], second: list[CardInfo], data: st.DataObject
) -> None:
    kept = {card.id: card for card in first if data.draw(st.booleans())}
    now = sorted({**{card.id: card for card in second}, **kept}.values(), key=lambda card: card.id)
    links = LinkGraph(first)
    if data.draw(st.booleans()):  # else nothing is resolved, and no table made, before it follows
        assert {card.id: links.related(card.id) for card in first} == _by_hand(first)
    links.follow(now)
    assert {card.id: links.related(card.id) for card in now} == _by_hand(now)
    links.follow(first)
    assert {card.id: links.related(card.id) for card in first} == _by_hand(first)


@given(cards=_snapshots.filter(bool), data=st.data())
def test_what_may_mean_a_name_is_all_that_does(cards: list[CardInfo], data: st.DataObject) -> None:
    card = data.draw(st.sampled_from(cards))
    links, resolver = LinkGraph(cards), LinkResolver(cards)
    naming = links.naming([card.id, *(name for name in (card.name, card.title, *card.aliases) if name)])
    for other in cards:
        led = [resolver.resolve(link.target, source_id=other.id).id for link in other.links if link.target]
        assert card.id not in led or other.id in naming


@given(cards=_snapshots.filter(bool), new=_cards, data=st.data())
def test_a_graph_with_a_card_renamed_is_that_of_the_cards_after_and_then_as_before(
    cards: list[CardInfo], new: CardInfo, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(cards))
    new = replace(new, type=old.type)
    links = LinkGraph(cards)
    after = LinkResolver([*(card for card in cards if card.id not in (old.id, new.id)), new])
    sources = ("q.md", "x/q.md", "y/q.md")
    if new.id in (card.id for card in cards if card.type != old.type):
        return  # its type is gone with it
    with links.renamed((old.id, new.id), cast(Card, new)):
        for source, target in product(sources, _TARGETS):
            assert links.resolve(target, source) == after.resolve(target, source_id=source).id
    assert {card.id: links.related(card.id) for card in cards} == _by_hand(cards)
