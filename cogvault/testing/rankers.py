"""The contract of ``cogvault.protocols.Ranker``, as tests to inherit.

    class TestMyRanker(RankerContract):
        def make_ranker(self) -> Ranker:
            return MyRanker()

The cards of the suite are about harbor pilots in title, text and vectors, and so is its query. A ranker that looks at
something else overrides ``make_query`` so that it finds at least four of them. Needs pytest.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cogvault.embedders import HashingEmbedder
from cogvault.indexes import MemoryIndex
from cogvault.indexes.filters import matches
from cogvault.protocols import Ranker, Snapshot
from cogvault.testing.records import ALL, DAY, found, found_cards, found_chunks, identity, record, terms
from cogvault.types import CardRecord, ChangeSet, Filter, Query, Ranking, VectorBatch

_TEXT = "harbor pilots"
_EVERYTHING = 1_000
_CARDS = (
    record("a.md", "harbor pilots guide ships", title="harbor pilots", type="note", tags=("sea", "work"), day=1),
    record("work/b.md", "harbor pilots wait", "many harbor pilots", title="harbour pilots", type="user", day=2),
    record("work/c.md", "one harbor pilot", title="harbor pilot", type="note", meta={"owner": "ana"}, day=3),
    record("work/deep/d.md", "harbor pilots and ships", title="harbor pilots 2", tags=("sea",), day=4),
    record("y-twin.md", "harbor pilots in fog", title="the harbor pilots"),
    record("x-twin.md", "harbor pilots in fog", title="the harbor pilots"),
    record("other.md", "penguins in winter", title="penguins"),
)
_FILTERS = {
    "type": Filter(types=frozenset({"note"})),
    "tags": Filter(tags=frozenset({"sea"})),
    "path": Filter(paths=("work",)),
    "after": Filter(after=DAY.replace(day=3)),
    "before": Filter(before=DAY.replace(day=3)),
    "where": Filter(where=(("owner", "ana"),)),
    "ids": Filter(ids=frozenset({"a.md", "other.md"})),
    "without": Filter(without=frozenset({"a.md", "work/b.md"})),
    "two at once": Filter(paths=("work",), types=frozenset({"note"})),
}


class RankerContract:
    """Checks of any ranker. Override ``make_ranker``; it may return one shared object."""

    def make_ranker(self) -> Ranker:
        """The ranker under test; called once or more in each test."""
        raise NotImplementedError

    def make_query(self) -> Query:
        """A query with which this ranker finds at least four of the suite's cards."""
        return Query(_TEXT, terms(_TEXT), HashingEmbedder().embed_query(_TEXT))

    def test_a_ranking_is_chunks_of_the_snapshot_best_first(self) -> None:
        snapshot = _snapshot(_CARDS)
        ranking = self._rank(snapshot)
        assert ranking.chunks.dtype == np.int64
        assert ranking.scores.dtype == np.float32
        assert ranking.chunks.shape == ranking.scores.shape
        assert len(set(found(ranking))) == len(ranking.chunks)
        assert np.isfinite(ranking.scores).all()
        assert (ranking.scores[:-1] >= ranking.scores[1:]).all()
        assert len(found_cards(snapshot, ranking)) >= 4, "override make_query so that the suite has something to check"

    def test_equal_scores_are_ordered_by_card_and_position(self) -> None:
        snapshot = _snapshot(_CARDS)
        ranking = self._rank(snapshot)
        keys = [(-score, *place) for score, place in zip(ranking.scores, found_chunks(snapshot, ranking), strict=True)]
        assert keys == sorted(keys)

    def test_a_limit_cuts_the_end_off(self) -> None:
        snapshot = _snapshot(_CARDS)
        whole = self._rank(snapshot)
        for limit in range(1, len(whole.chunks) + 1):
            assert found(self._rank(snapshot, limit=limit)) == found(whole)[:limit]

    @pytest.mark.parametrize("filter", _FILTERS.values(), ids=_FILTERS)
    def test_a_filter_leaves_what_passes_and_nothing_else(self, filter: Filter) -> None:
        snapshot = _snapshot(_CARDS)
        allowed = {card.id for card in snapshot.cards if matches(card, filter)}
        filtered = self._rank(snapshot, filter=filter)
        expected = {place for place in found_chunks(snapshot, self._rank(snapshot)) if place[0] in allowed}
        assert set(found_chunks(snapshot, filtered)) == expected

    @pytest.mark.parametrize("filter", _FILTERS.values(), ids=_FILTERS)
    def test_a_filter_holds_before_the_limit(self, filter: Filter) -> None:
        snapshot = _snapshot(_CARDS)
        whole = self._rank(snapshot, filter=filter)
        assert found(self._rank(snapshot, filter=filter, limit=1)) == found(whole)[:1]

    def test_a_filter_that_nothing_passes_leaves_nothing(self) -> None:
        assert found(self._rank(_snapshot(_CARDS), filter=Filter(types=frozenset({"nobody"})))) == []

    def test_an_index_without_cards_gives_nothing(self) -> None:
        assert found(self._rank(MemoryIndex().snapshot())) == []

    @pytest.mark.parametrize("text", ["", " \n", "?!", "\u200b", "a" * 8_000, "设" * 2_000, "nul\x00byte", "\udce9"])
    def test_any_text_is_a_query(self, text: str) -> None:
        snapshot = _snapshot(_CARDS)
        ranking = self.make_ranker().rank(snapshot, Query(text, terms(text)), ALL, 5)
        assert ranking.chunks.shape == ranking.scores.shape
        assert len(ranking.chunks) <= 5
        assert len(snapshot.chunks(found(ranking))) == len(ranking.chunks)

    def test_without_a_vector_or_terms_it_ranks_by_the_rest(self) -> None:
        snapshot, query = _snapshot(_CARDS), self.make_query()
        for part in (Query(query.text, query.terms), Query(query.text, (), query.vector), Query(query.text, ())):
            ranking = self.make_ranker().rank(snapshot, part, ALL, _EVERYTHING)
            assert np.isfinite(ranking.scores).all()

    def test_the_way_an_index_was_filled_does_not_matter(self) -> None:
        one, two = _snapshot(_CARDS), _snapshot(reversed(_CARDS), at_once=False)
        assert found_chunks(one, self._rank(one)) == found_chunks(two, self._rank(two))

    def test_another_ranker_of_its_kind_gives_the_same(self) -> None:
        snapshot, query = _snapshot(_CARDS), self.make_query()
        one, two = (self.make_ranker().rank(snapshot, query, ALL, _EVERYTHING) for _ in range(2))
        assert found(one) == found(two)
        np.testing.assert_array_equal(one.scores, two.scores)

    def test_a_change_is_followed_and_an_older_view_stays_as_it_was(self) -> None:
        ranker, query = self.make_ranker(), self.make_query()
        index = _filled(_CARDS)
        old = index.snapshot()
        before = found_chunks(old, ranker.rank(old, query, ALL, _EVERYTHING))
        gone = before[0][0]
        index.apply(ChangeSet(remove=(gone,)))
        new = index.snapshot()
        after = found_chunks(new, ranker.rank(new, query, ALL, _EVERYTHING))
        assert {card for card, _ in after} == {card for card, _ in before} - {gone}
        assert found_chunks(old, ranker.rank(old, query, ALL, _EVERYTHING)) == before

    def test_a_new_name_and_new_text_are_followed(self) -> None:
        ranker, query = self.make_ranker(), self.make_query()
        index = _filled(_CARDS)
        index.apply(ChangeSet(put=(record("other.md", "harbor pilots guide ships", title="harbor pilots"),)))
        _embed(index)
        ranking = ranker.rank(index.snapshot(), query, Filter(ids=frozenset({"other.md"})), _EVERYTHING)
        assert found_cards(index.snapshot(), ranking) in ([], ["other.md"])
        whole = ranker.rank(index.snapshot(), query, ALL, _EVERYTHING)
        assert ("other.md" in found_cards(index.snapshot(), whole)) == bool(found(ranking))

    def test_threads_and_vaults_share_one_ranker(self) -> None:
        ranker, query = self.make_ranker(), self.make_query()
        vaults = (_snapshot(_CARDS), _snapshot(_CARDS[3:]), _snapshot(()))
        alone = [found_chunks(vault, ranker.rank(vault, query, ALL, _EVERYTHING)) for vault in vaults]

        def rank_all(_: int) -> list[list[tuple[str, int]]]:
            return [found_chunks(vault, ranker.rank(vault, query, ALL, _EVERYTHING)) for vault in vaults]

        with ThreadPoolExecutor(4) as pool:
            assert all(rankings == alone for rankings in pool.map(rank_all, range(12)))

    def test_it_has_a_name(self) -> None:
        name = self.make_ranker().name
        assert name.strip() == name != ""
        assert self.make_ranker().name == name

    def _rank(self, snapshot: Snapshot, *, filter: Filter = ALL, limit: int = _EVERYTHING) -> Ranking:
        return self.make_ranker().rank(snapshot, self.make_query(), filter, limit)


def _snapshot(cards: Iterable[CardRecord], *, at_once: bool = True) -> Snapshot:
    return _filled(cards, at_once=at_once).snapshot()


def _filled(cards: Iterable[CardRecord], *, at_once: bool = True) -> MemoryIndex:
    """An index of these cards with a vector for each chunk."""
    embedder = HashingEmbedder()
    index = MemoryIndex()
    index.apply(ChangeSet(identity=identity(embedder.fingerprint, embedder.dim)))
    for put in [tuple(cards)] if at_once else [(card,) for card in cards]:
        index.apply(ChangeSet(put=put))
    _embed(index)
    return index


def _embed(index: MemoryIndex) -> None:
    embedder = HashingEmbedder()
    waiting = index.snapshot().pending(embedder.fingerprint, _EVERYTHING)
    if waiting:
        rows = embedder.embed_documents([stored.chunk.embed_text for stored in waiting])
        chunks = np.array([stored.id for stored in waiting], np.int64)
        index.apply(ChangeSet(vectors=VectorBatch(embedder.fingerprint, chunks, rows)))
