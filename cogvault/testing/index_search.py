"""Contract of ``Index``: rankings, filters and evidence. See ``cogvault.testing.indexes``."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from cogvault.protocols import Index
from cogvault.testing.records import (
    ALL,
    DAY,
    DIM,
    MODEL,
    embedded,
    found,
    found_cards,
    found_chunks,
    identity,
    record,
    terms,
    vector_of,
    vectors,
)
from cogvault.types import ChangeSet, Filter, FloatArray, Term, TermKind, VectorBatch


class SearchContract:
    """What a snapshot finds and counts."""

    def make_index(self, folder: Path) -> Index:
        """As ``IndexContract.make_index``."""
        raise NotImplementedError

    def test_exact_words_beat_inflections(self, index: Index) -> None:
        index.apply(
            ChangeSet(put=(record("a.md", "the payments failed", title="t"), record("b.md", "a payment", title="t")))
        )
        snapshot = index.snapshot()
        assert found_cards(snapshot, snapshot.keyword(terms("payments"), ALL, 5)) == ["a.md", "b.md"]

    def test_every_script_isfound(self, index: Index) -> None:
        texts = {
            "cjk.md": "设备清单已更新",
            "uk.md": "платіжний сервіс",
            "th.md": "ระบบชำระเงิน",
            "id.md": "see POL-358",
        }
        index.apply(ChangeSet(put=tuple(record(id, text, title="t") for id, text in texts.items())))
        snapshot = index.snapshot()
        for query, card in {"清单": "cjk.md", "платежі": "uk.md", "ชำระ": "th.md", "pol-358": "id.md"}.items():
            assert found_cards(snapshot, snapshot.keyword(terms(query), ALL, 5)) == [card], query

    def test_equal_scores_are_ordered_by_card_and_position(self, index: Index) -> None:
        for id in ("c.md", "a.md", "b.md"):
            index.apply(ChangeSet(put=(record(id, "same text", "same text", title="t"),), identity=identity()))
        embedded(index)
        snapshot = index.snapshot()
        expected = [stored.id for id in ("a.md", "b.md", "c.md") for stored in snapshot.of_card(id)[1:]]
        assert found(snapshot.keyword(terms("same"), ALL, 9)) == expected
        assert found(snapshot.keyword(terms("same"), ALL, 3)) == expected[:3]
        assert found(snapshot.semantic(vector_of("same text"), ALL, 4)) == expected[:4]

    def test_history_does_not_show(self, index: Index, tmp_path: Path) -> None:
        cards = [record(f"{n}.md", f"word{n} shared text {'long ' * n}", day=n) for n in range(12)]
        for card in cards:
            index.apply(ChangeSet(put=(record(card.card.id, "shared shared other text"),)))
        for card in reversed(cards):
            index.apply(ChangeSet(put=(card,)))
        other = self.make_index(tmp_path / "other")
        other.apply(ChangeSet(put=tuple(cards)))
        one, two = index.snapshot(), other.snapshot()
        for query in ("shared", "word3 text", "long"):
            first, second = (snapshot.keyword(terms(query), ALL, 20) for snapshot in (one, two))
            assert found_chunks(one, first) == found_chunks(two, second)
            np.testing.assert_array_equal(first.scores, second.scores)
        other.close()

    def test_nothing_to_look_for_finds_nothing(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        embedded(index)
        snapshot = index.snapshot()
        assert found(snapshot.keyword((), ALL, 5)) == []
        assert found(snapshot.keyword(terms("x"), ALL, 0)) == []
        assert found(snapshot.keyword((Term(TermKind.EXACT, "absent", 1.0),), ALL, 5)) == []
        assert found(snapshot.semantic(np.zeros(DIM, np.float32), ALL, 5)) == []
        assert found(snapshot.semantic(vector_of("x"), ALL, 0)) == []

    def test_chunks_with_a_zero_vector_are_never_near(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        ids = np.array([stored.id for stored in index.snapshot().of_card("a.md")])
        rows = np.stack([vector_of("x"), np.zeros(DIM, np.float32)])
        index.apply(ChangeSet(vectors=VectorBatch(MODEL, ids, rows)))
        snapshot = index.snapshot()
        assert found(snapshot.semantic(vector_of("x"), ALL, 5)) == [int(ids[0])]
        evidence = snapshot.evidence(ids, terms("x"), vector_of("x"), 1)
        assert np.isnan(evidence.detail.cosines).tolist() == [False, True]

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            (Filter(types=frozenset({"PROJECT", "other"})), {"a.md", "dir/b.md"}),
            (Filter(tags=frozenset({"One", "two"})), {"a.md"}),
            (Filter(paths=("dir",)), {"dir/b.md", "dir/sub/c.md"}),
            (Filter(paths=("dir/sub/",)), {"dir/sub/c.md"}),
            (Filter(paths=("dir/b.md",)), {"dir/b.md"}),
            (Filter(paths=("di",)), set()),
            (Filter(paths=("DIR",)), {"dir/b.md", "dir/sub/c.md"}),
            (Filter(paths=("DIR",), as_written=True), set()),
            (Filter(paths=("dir/sub", "A.md"), as_written=True), {"dir/sub/c.md"}),
            (Filter(paths=("a.md", "dir/sub")), {"a.md", "dir/sub/c.md"}),
            (Filter(outside=("dir",)), {"a.md", "directory.md"}),
            (Filter(paths=("dir",), outside=("dir/sub",)), {"dir/b.md"}),
            (Filter(paths=("",)), {"a.md", "dir/b.md", "dir/sub/c.md", "directory.md"}),
            (Filter(after=DAY + timedelta(days=2)), {"dir/sub/c.md", "directory.md"}),
            (Filter(before=DAY + timedelta(days=2)), {"a.md", "dir/b.md"}),
            (Filter(as_of=DAY + timedelta(days=5)), {"dir/b.md", "dir/sub/c.md", "directory.md"}),
            (Filter(as_of=DAY - timedelta(days=5)), {"dir/b.md", "directory.md"}),
            (Filter(where=(("status", "OPEN"),)), {"a.md"}),
            (Filter(where=(("Status", "done"), ("n", "5"))), {"dir/b.md"}),
            (Filter(where=(("flag", "true"),)), {"dir/sub/c.md"}),
            (Filter(ids=frozenset({"a.md", "none"})), {"a.md"}),
            (Filter(without=frozenset({"a.md"})), {"dir/b.md", "dir/sub/c.md", "directory.md"}),
            (Filter(ids=frozenset()), set()),
        ],
    )
    def test_filters_hold_for_every_ranking(self, index: Index, filter: Filter, expected: set[str]) -> None:
        index.apply(
            ChangeSet(
                put=(
                    record(
                        "a.md",
                        "text",
                        day=0,
                        type="project",
                        tags=("one", "Two", "x"),
                        meta={"status": "open"},
                        valid_from=DAY,
                        valid_until=DAY + timedelta(days=4),
                    ),
                    record(
                        "dir/b.md", "text", day=1, type="Other", tags=("one",), meta={"status": ["x", "Done"], "n": 5}
                    ),
                    record("dir/sub/c.md", "text", day=2, meta={"flag": True}, created=DAY),
                    record("directory.md", "text", day=3),
                ),
                identity=identity(),
            )
        )
        embedded(index)
        snapshot = index.snapshot()
        assert set(found_cards(snapshot, snapshot.keyword(terms("text"), filter, 50))) == expected
        assert set(found_cards(snapshot, snapshot.semantic(vector_of("text"), filter, 50))) == expected

    def test_filters_are_applied_before_the_cut(self, index: Index) -> None:
        good = tuple(record(f"{n:02}.md", "tree tree tree", title="t") for n in range(30))
        index.apply(ChangeSet(put=(*good, record("z.md", "one tree among many other words", title="t", type="x"))))
        snapshot = index.snapshot()
        found = snapshot.keyword(terms("tree"), Filter(types=frozenset({"x"})), 1)
        assert found_cards(snapshot, found) == ["z.md"]

    # Evidence

    def test_evidence_counts_words_stems_and_grams(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "payments payment pay repayment payments", title="t"),)))
        ids = np.array([index.snapshot().of_card("a.md")[1].id])
        wanted = (
            Term(TermKind.EXACT, "payments", 1.0),
            Term(TermKind.STEM, "payme", 1.0),
            Term(TermKind.GRAM, "paym", 1.0),
            Term(TermKind.GRAM, "none", 1.0),
        )
        evidence = index.snapshot().evidence(ids, wanted, None, 1)
        assert evidence.detail.counts.tolist() == [[2, 3, 4, 0]]
        assert evidence.detail.lengths.tolist() == [6]
        assert np.isnan(evidence.detail.cosines).all()
        assert (evidence.chunk_count, evidence.card_count) == (2, 1)
        assert evidence.chunk_frequency[0] == pytest.approx(1)
        assert evidence.card_frequency.tolist() == pytest.approx([1, 1, 1, 0])

    def test_windows_are_clipped_to_the_body_and_heads_stand_alone(self, index: Index) -> None:
        index.apply(
            ChangeSet(put=(record("a.md", "w", "w w", "w w w", "w", title="t"), record("b.md", "w", title="t")))
        )
        ids = np.array([stored.id for stored in index.snapshot().of_card("a.md")])
        evidence = index.snapshot().evidence(ids[::-1], (Term(TermKind.EXACT, "w", 1.0),), None, 1)
        assert evidence.positions.tolist() == [4, 3, 2, 1, 0]
        assert evidence.detail.counts[:, 0].tolist() == [1, 3, 2, 1, 0]
        assert evidence.window.counts[:, 0].tolist() == [4, 6, 6, 3, 0]
        assert evidence.card.counts[:, 0].tolist() == [7] * 5
        # Each chunk's words include those of the title.
        assert evidence.window.lengths.tolist() == [6, 9, 9, 5, 1]
        assert evidence.window.mean_length == pytest.approx((6 + 9 + 9 + 5 + 1 + 1 + 2) / 7)
        assert evidence.detail.mean_length == pytest.approx((1 + 2 + 3 + 4 + 2 + 1 + 2) / 7)
        assert evidence.card.mean_length == pytest.approx((12 + 3) / 2)

    def test_cosines_are_those_of_mean_vectors(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x", "y", "z"),), identity=identity()))
        ids = np.array([stored.id for stored in index.snapshot().of_card("a.md")])
        rows = vectors(4)
        index.apply(ChangeSet(vectors=VectorBatch(MODEL, ids[:3], rows[:3])))
        query = vectors(1, seed=9)[0]
        evidence = index.snapshot().evidence(ids, (), query, 1)
        body, whole = _cosine(rows[1:3].mean(axis=0), query), _cosine(rows[:3].mean(axis=0), query)
        alone = [_cosine(row, query) for row in rows[:3]]
        assert evidence.detail.cosines[:3].tolist() == pytest.approx(alone, abs=0.02)
        assert np.isnan(evidence.detail.cosines[3])
        assert evidence.window.cosines.tolist() == pytest.approx([alone[0], body, body, alone[2]], abs=0.02)
        assert evidence.card.cosines.tolist() == pytest.approx([whole] * 4, abs=0.02)

    def test_evidence_of_nothing_is_empty(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        evidence = index.snapshot().evidence(np.empty(0, np.int64), terms("x"), vector_of("x"), 2)
        assert evidence.detail.counts.shape == (0, len(terms("x")))
        assert evidence.window.cosines.shape == (0,)


def _cosine(one: FloatArray, two: FloatArray) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))
