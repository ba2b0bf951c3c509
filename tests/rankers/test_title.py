from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from cogvault.rankers.names import name_form
from cogvault.rankers.title import CUTOFF, TitleRanker
from cogvault.types import Filter, Query
from tests.retrieval.world import World

FILES = {
    "notes/deploy-checklist.md": "---\ntitle: Before we ship\naliases: [go live, 上线清单]\nname: shipping\n---\nx\n",
    "gateway.md": "---\ntitle: Gateway configuration\ntype: reference\n---\nx\n",
    "who.md": "# The Who\n\nA band.\n",
    "設備.md": "x\n",
}


@pytest.fixture(scope="module")
def world() -> World:
    return World(FILES, embedder=None)


def found(world: World, text: str, *, filter: Filter | None = None, limit: int = 10) -> list[tuple[str, float]]:
    """Cards that the ranker finds, with their similarity."""
    snapshot = world.index.snapshot()
    ranking = TitleRanker().rank(snapshot, Query(text, ()), filter or Filter(), limit)
    stored = snapshot.chunks(ranking.chunks.tolist())
    assert all(item.chunk.position == 0 for item in stored)
    return [(item.card, score) for item, score in zip(stored, ranking.scores.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("Gateway configuration", "gateway.md"),
        ("GATEWAY CONFIGURATION", "gateway.md"),
        ("gateway-configuration", "gateway.md"),
        ("gateway_configuration.md", "gateway.md"),
        ("  gateway  configuration ", "gateway.md"),
        ("gateway", "gateway.md"),
        ("Before we ship", "notes/deploy-checklist.md"),
        ("go live", "notes/deploy-checklist.md"),
        ("shipping", "notes/deploy-checklist.md"),
        ("deploy checklist", "notes/deploy-checklist.md"),
        ("上线清单", "notes/deploy-checklist.md"),
        ("the who", "who.md"),
        ("設備", "設備.md"),
        ("ｇａｔｅｗａｙ", "gateway.md"),
        ("gate\u200bway", "gateway.md"),
    ],
)
def test_an_exact_name_of_any_kind_is_1(world: World, text: str, id: str) -> None:
    assert found(world, text)[0] == (id, 1.0)


@pytest.mark.parametrize("text", ["gateway configurtion", "gatewya configuration", "gateway konfiguration"])
def test_a_typo_is_forgiven_and_costs_something(world: World, text: str) -> None:
    (id, similarity), *_ = found(world, text)
    assert id == "gateway.md"
    assert 0.75 <= similarity < 1


@pytest.mark.parametrize("text", ["", "   ", ".md", "-_-", "zebra", "what is the gateway configuration of our cluster"])
def test_what_is_no_name_finds_nothing(world: World, text: str) -> None:
    assert found(world, text) == []


def test_an_empty_vault_has_no_names() -> None:
    assert found(World({}, embedder=None), "anything") == []


def test_the_best_come_first_and_equal_ones_by_id() -> None:
    files = {"c.md": "# Zebra\n", "b.md": "# Zebra\n", "a.md": "# Zebras\n"}
    assert [id for id, _ in found(World(files, embedder=None), "zebra")] == ["b.md", "c.md", "a.md"]


def test_a_card_is_found_once_by_its_best_name() -> None:
    world = World({"zebra.md": "---\ntitle: Zebras\nname: zebra\naliases: [zebra, zebrax]\n---\n"}, embedder=None)
    assert found(world, "zebra") == [("zebra.md", 1.0)]


def test_the_filter_acts_before_the_limit() -> None:
    files = {f"{n}.md": "# Zebra\n" for n in range(9)} | {"z.md": "---\ntitle: Zebras\ntype: rare\n---\n"}
    world = World(files, embedder=None)
    assert [id for id, _ in found(world, "zebra", filter=Filter(types=frozenset({"rare"})), limit=1)] == ["z.md"]
    assert len(found(world, "zebra", limit=3)) == 3
    assert found(world, "zebra", limit=0) == []


def test_names_are_read_anew_for_a_new_snapshot() -> None:
    world = World({"a.md": "# Zebra\n"}, embedder=None)
    ranker = TitleRanker()

    def ids(text: str) -> list[str]:
        snapshot = world.index.snapshot()
        chunks = ranker.rank(snapshot, Query(text, ()), Filter(), 10).chunks.tolist()
        return [item.card for item in snapshot.chunks(chunks)]

    assert ids("zebra") == ["a.md"]
    world.put({"a.md": "# Lion\n", "b.md": "# Zebra\n"})
    assert ids("zebra") == ["b.md"]
    assert ids("lion") == ["a.md"]


def test_one_ranker_serves_vaults_in_turn() -> None:
    ranker = TitleRanker()
    one, other = World({"a.md": "# Zebra\n"}, embedder=None), World({"b.md": "# Zebra\n"}, embedder=None)
    for world, id in ((one, "a.md"), (other, "b.md"), (one, "a.md")):
        snapshot = world.index.snapshot()
        chunks = ranker.rank(snapshot, Query("zebra", ()), Filter(), 10).chunks.tolist()
        assert [item.card for item in snapshot.chunks(chunks)] == [id]


def test_an_old_snapshot_is_ranked_by_its_own_names() -> None:
    world = World({"a.md": "# Zebra\n"}, embedder=None)
    old = world.index.snapshot()
    ranker = TitleRanker()
    world.put({"a.md": "# Lion\n"})
    assert not len(ranker.rank(world.index.snapshot(), Query("zebra", ()), Filter(), 10).chunks)
    assert len(ranker.rank(old, Query("zebra", ()), Filter(), 10).chunks) == 1


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_query_gives_a_falling_ranking_of_similarities(world: World, text: str) -> None:
    ranking = TitleRanker().rank(world.index.snapshot(), Query(text, ()), Filter(), 10)
    assert ranking.chunks.shape == ranking.scores.shape
    assert np.all((ranking.scores >= 0.75) & (ranking.scores <= 1))
    assert np.all(np.diff(ranking.scores) <= 0)


@given(st.text(max_size=40))
def test_the_form_of_a_name_is_stable(name: str) -> None:
    form = name_form(name)
    assert form == form.strip()
    assert not {"-", "_", "\n", "\t"} & set(form)
    assert name_form(name.upper().replace(" ", "_")) == name_form(name.upper())


def test_a_title_lifts_every_passage_of_its_card(world: World) -> None:
    hits = world.with_options(hits_per_card=0).search("the who", min_score=0.0, k=50)
    assert [hit.score >= 0.9 for hit in hits if hit.id == "who.md"] == [True, True]


@given(
    st.lists(st.text("abcxé人", min_size=1, max_size=25), min_size=1, max_size=8, unique=True),
    st.text("abcxé人", min_size=1),
)
def test_names_that_are_passed_over_are_none_that_would_be_found(names: list[str], query: str) -> None:
    world = World({f"{number}.md": f"---\ntitle: '{name}'\n---\n" for number, name in enumerate(names)})
    snapshot = world.index.snapshot()
    found = TitleRanker().rank(snapshot, Query(query, ()), Filter(), 100)
    cards = {stored.card for stored in snapshot.chunks(found.chunks.tolist())}
    expected = {f"{number}.md" for number, name in enumerate(names) if fuzz.ratio(query, name) >= CUTOFF}
    assert cards == expected


@pytest.mark.parametrize("name", ["a" * 700, "a" * 256 + "b" * 300, "ab" * 300, "a" * 255])
def test_a_name_of_many_equal_letters_is_found(name: str) -> None:
    world = World({"a.md": f"---\ntitle: {name}\n---\n"}, embedder=None)
    assert found(world, name) == [("a.md", 1.0)]
    assert [id for id, _ in found(world, name[:-9] + "x" * 9)] == ["a.md"]


def test_names_follow_the_cards_that_come_change_and_go() -> None:
    world = World(FILES, embedder=None)
    kept = TitleRanker()
    for files in (
        {"ship.md": "---\ntitle: Gateway configurations\n---\nx\n"},
        {"gateway.md": "---\ntitle: Gateways\naliases: [Gateway configuration]\n---\nx\n", "who.md": "# Whom\n"},
        {f"n{number}.md": f"# Gateway configuration {number}\n" for number in range(300)},
    ):
        world.put(files)
        snapshot = world.index.snapshot()
        for text in ("Gateway configuration", "gateway", "who", "go live", "上线清单", "before we ship"):
            rankings = [ranker.rank(snapshot, Query(text, ()), Filter(), 1000) for ranker in (kept, TitleRanker())]
            assert [ranking.chunks.tolist() for ranking in rankings[:1]] == [rankings[1].chunks.tolist()]
            assert [ranking.scores.tolist() for ranking in rankings[:1]] == [rankings[1].scores.tolist()]
