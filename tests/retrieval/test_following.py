"""What is kept of the cards of one snapshot and follows to the next is what would be found out anew."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexes import difference
from cogvault.protocols import Snapshot
from cogvault.rankers import names
from cogvault.rankers.links import LinkGraph
from cogvault.rankers.title import TitleRanker
from cogvault.retrieval.decay import Validities, validity_weights
from cogvault.retrieval.sample import Sampler
from cogvault.retrieval.succession import SharedGraph, replaced
from cogvault.types import CardInfo, Filter, Link, LinkKind, Query
from tests.retrieval.values import NOW, card

_IDS = ["a.md", "A.md", "x/a.md", "y/a.md", "project_a.md", "note_a-b.md", "x/a b.md", "b.md", "c.md"]
_names = st.sampled_from(["a", "A", "x/a", "project_a", "a-b", "a b", "note_a-b", "b.md", "./b", "", "c", "ghost"])
_instants = st.none() | st.integers(-2, 2).map(lambda days: NOW + timedelta(days=days))
_cards = st.builds(
    card,
    st.sampled_from(_IDS),
    type=st.none() | st.sampled_from(["note", "project", "meeting"]),
    name=st.none() | st.sampled_from(["a", "c", "x/a", "A B"]),
    aliases=st.lists(_names, max_size=2).map(tuple),
    supersedes=st.lists(_names, max_size=2).map(tuple),
    superseded_by=st.lists(_names, max_size=1).map(tuple),
    created=_instants,
    valid_from=_instants,
    valid_until=_instants,
    chunks=st.integers(1, 3),
    links=st.lists(_names, max_size=2).map(lambda names: tuple(Link(name, LinkKind.WIKI, 1) for name in names)),
)
_lists = st.lists(
    st.builds(replace, _cards, hash=st.sampled_from("abcdef")), max_size=8, unique_by=lambda each: each.id
)


@st.composite
def _sequences(draw: st.DrawFn) -> list[Sequence[CardInfo]]:
    """Lists of cards in id order, each with some objects of the one before it."""
    found: list[Sequence[CardInfo]] = [()]
    for new in draw(st.lists(_lists, min_size=1, max_size=5)):
        kept = {each.id: each for each in found[-1] if draw(st.booleans())}
        cards = {**{each.id: each for each in new}, **kept}.values()
        found.append(tuple(sorted(cards, key=lambda each: each.id)))
    return [*found[1:], *draw(st.lists(st.sampled_from(found), max_size=2))]


def _snapshot(cards: Sequence[CardInfo]) -> Snapshot:
    """What the title ranker asks of one: cards, and their chunks, here by their place."""
    heads = {each.id: [SimpleNamespace(id=place)] for place, each in enumerate(cards)}
    return cast(Snapshot, SimpleNamespace(cards=cards, of_card=heads.__getitem__))


def _expected(cards: Sequence[CardInfo]) -> dict[str, datetime]:
    with SharedGraph().of(cards) as graph:
        return dict(replaced(cards, graph.resolve))


@given(snapshots=_sequences(), days=st.integers(-3, 3))
def test_validities_that_follow_are_those_found_out_anew(snapshots: list[Sequence[CardInfo]], days: int) -> None:
    at = NOW + timedelta(days=days)
    kept = Validities(SharedGraph())
    given_before = []
    for cards in snapshots:
        expected = _expected(cards)
        found = kept.replaced(cards)
        assert found == expected
        places = np.arange(len(cards))[::-1]
        wanted = validity_weights(cards, at, expected)[::-1]
        assert kept.weights(cards, places, at).tolist() == wanted.tolist()
        given_before.append((found, expected))
    assert all(found == expected for found, expected in given_before)


@given(snapshots=_sequences())
def test_names_that_follow_are_those_made_anew(snapshots: list[Sequence[CardInfo]]) -> None:
    kept = TitleRanker()
    for cards in snapshots:
        for text in ("a", "a b", "project a", "ghost"):
            found, made = (
                ranker.rank(_snapshot(cards), Query(text, ()), Filter(), 9) for ranker in (kept, TitleRanker())
            )
            assert found.chunks.tolist() == made.chunks.tolist()
            assert found.scores.tolist() == made.scores.tolist()


@pytest.mark.parametrize("many", [0, 10_000])
def test_many_changes_are_as_good_as_few(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_MANY", many)
    old = card("old.md", valid_until=NOW)
    first = (card("new.md", supersedes=("old",), created=NOW), old)
    second = (card("newer.md", supersedes=("old",), created=NOW - timedelta(days=1)), *first[1:])
    third = (old,)
    kept = Validities(SharedGraph())
    for cards in (first, second, third, first):
        assert kept.replaced(cards) == _expected(cards)
    assert kept.replaced(third) == {}
    assert kept.replaced(second) == {"old.md": datetime(2026, 5, 31, 12, tzinfo=UTC)}


@given(snapshots=_sequences(), count=st.integers(1, 3))
def test_a_sample_that_follows_is_the_one_drawn_anew(snapshots: list[Sequence[CardInfo]], count: int) -> None:
    kept = Sampler(count)
    for cards in snapshots:
        body = [each for each in cards if each.chunks > 1]
        least = sorted(body, key=lambda each: (each.hash, each.id))[:count]
        assert kept.of(cards) == Sampler(count).of(cards)
        assert kept.of(cards)[0] == least


def _broken_off(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, run: Callable[[], object], call: int = 2
) -> None:
    """Let something run until a call of a function, its second for example, as if by Ctrl-C."""
    real, calls = getattr(owner, name), itertools.count(1)

    def stop(*args: object) -> object:
        if next(calls) == call:
            raise KeyboardInterrupt
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(KeyboardInterrupt):
            run()


@pytest.mark.parametrize("many", [0, 10_000])
def test_links_that_were_broken_off_are_made_anew(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_MANY", many)
    one, two = (
        tuple(card(f"{n}.md", links=(Link(f"{(n + step) % 5}", LinkKind.WIKI, 1),)) for n in range(5))
        for step in (1, 2)
    )
    kept = SharedGraph()
    kept.related(one, "1.md")
    _broken_off(monkeypatch, LinkGraph, "_take_links", lambda: kept.related(two, "1.md"))
    for cards in (two, one):
        assert [kept.related(cards, each.id) for each in cards] == [
            SharedGraph().related(cards, each.id) for each in cards
        ]


def test_a_graph_that_was_broken_off_does_not_call_itself_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_MANY", 0)
    one, two = (tuple(card(f"{n}.md", title=word) for n in range(5)) for word in ("One", "Two"))
    graph = LinkGraph(one)
    _broken_off(monkeypatch, LinkGraph, "_take_links", lambda: graph.follow(two))
    assert graph.cards is one


@pytest.mark.parametrize("many", [0, 10_000])
def test_names_that_were_broken_off_are_made_anew(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_MANY", many)
    one, two = (tuple(card(f"{n}.md", title=f"{word} {n}") for n in range(5)) for word in ("One", "Two"))
    kept = TitleRanker()

    def found(ranker: TitleRanker, cards: Sequence[CardInfo], text: str) -> list[tuple[int, float]]:
        ranking = ranker.rank(_snapshot(cards), Query(text, ()), Filter(), 9)
        return list(zip(ranking.chunks.tolist(), ranking.scores.tolist(), strict=True))

    found(kept, one, "one 1")
    if many:  # when all that went has gone, and not all has come
        _broken_off(monkeypatch, names.Names, "_place", lambda: found(kept, two, "two 1"), call=12)
    else:
        _broken_off(monkeypatch, names, "_forms", lambda: found(kept, two, "two 1"))
    for cards in (two, one):
        for text in ("one 1", "two 4"):
            assert found(kept, cards, text) == found(TitleRanker(), cards, text)
