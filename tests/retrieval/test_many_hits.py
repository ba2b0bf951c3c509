"""More hits than a ranker's usual number of candidates."""

from __future__ import annotations

from tests.retrieval.world import World, rankers


def test_as_many_hits_as_are_asked_for_are_found() -> None:
    world = World(
        {f"{number}.md": f"# {number}\n\nwalrus {number}\n" for number in range(130)},
        embedder=None,
        rankers=rankers("keyword"),
    )
    assert len(world.search("walrus", k=125)) == 125
