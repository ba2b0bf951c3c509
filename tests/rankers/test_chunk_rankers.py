from __future__ import annotations

from collections.abc import Sequence

from cogvault.embedders import HashingEmbedder
from cogvault.rankers import KeywordRanker, SemanticRanker
from cogvault.text.queries import query_terms
from cogvault.types import Filter, Query, Ranking
from tests.retrieval.world import World


def cards(world: World, ranking: Ranking) -> list[str]:
    return [item.card for item in world.index.snapshot().chunks(ranking.chunks.tolist())]


def keyword(world: World, text: str, filter: Filter | None = None, limit: int = 10) -> Sequence[str]:
    query = Query(text, query_terms(text))
    return cards(world, KeywordRanker().rank(world.index.snapshot(), query, filter or Filter(), limit))


def test_cards_that_hold_the_rarer_word_come_first() -> None:
    world = World({"a.md": "common zebra", "b.md": "common common", "c.md": "other"}, embedder=None)
    found = keyword(world, "common zebra")
    assert found[0] == "a.md"
    assert "b.md" in found


def test_the_form_of_a_speaker_alone_makes_no_candidate() -> None:
    """A query that names Ana must not drag in everything she ever said."""
    world = World({"talk.md": "**Anastasia**: hello there\n"}, embedder=None)
    query = Query("anastasia", tuple(term for term in query_terms("anastasia") if term.weight == 0))
    assert cards(world, KeywordRanker().rank(world.index.snapshot(), query, Filter(), 10)) == []


def test_no_terms_find_nothing() -> None:
    assert keyword(World({"a.md": "zebra"}, embedder=None), "?!") == []


def test_without_a_vector_nothing_is_found_by_meaning() -> None:
    world = World({"a.md": "zebra"})
    assert cards(world, SemanticRanker().rank(world.index.snapshot(), Query("zebra", ()), Filter(), 10)) == []


def test_the_nearest_meaning_comes_first() -> None:
    world = World({"a.md": "zebras with stripes", "b.md": "coffee without sugar"})
    query = Query("zebra stripe", (), HashingEmbedder().embed_query("zebra stripe"))
    ranking = SemanticRanker().rank(world.index.snapshot(), query, Filter(), 10)
    assert cards(world, ranking)[0] == "a.md"
    assert (ranking.scores[:-1] >= ranking.scores[1:]).all()
    filtered = SemanticRanker().rank(world.index.snapshot(), query, Filter(without=frozenset({"a.md"})), 1)
    assert cards(world, filtered) == ["b.md"]
