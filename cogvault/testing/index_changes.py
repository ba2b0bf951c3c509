"""Contract of ``Index``: what changes do to cards and vectors. See ``cogvault.testing.indexes``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cogvault.errors import IndexFault
from cogvault.protocols import Index
from cogvault.testing.records import (
    ALL,
    DAY,
    DIM,
    MODEL,
    embedded,
    found,
    found_cards,
    identity,
    record,
    stamp,
    terms,
    vector_of,
    vectors,
)
from cogvault.types import CardLayers, ChangeSet, IndexIdentity, Link, LinkKind, Problem, VectorBatch


class ChangeContract:
    """What a change does."""

    def test_files_are_those_of_the_cards(self, index: Index) -> None:
        """Before the cards are looked at, and after."""
        index.apply(ChangeSet(put=(record("a.md", "one"), record("dir/b.md", "two"))))
        before, cards = index.snapshot().files, index.snapshot().cards
        expected = {card.id: (card.path, card.stamp, card.hash) for card in cards}
        for files in (before, index.snapshot().files):
            assert {id: (file.path, file.stamp, file.hash) for id, file in files.items()} == expected

    def test_a_new_index_is_empty(self, index: Index) -> None:
        snapshot = index.snapshot()
        assert list(snapshot.cards) == []
        assert (snapshot.stats.cards, snapshot.stats.chunks, snapshot.stats.vectors) == (0, 0, 0)
        assert found(snapshot.keyword(terms("anything"), ALL, 5)) == []
        assert found(snapshot.semantic(vector_of("anything"), ALL, 5)) == []
        assert snapshot.pending(MODEL, 5) == []
        assert snapshot.of_card("a.md") == []
        assert index.verify() == []

    def test_a_reset_index_is_empty_says_why_and_takes_cards_again(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "one"), record("b.md", "two")), identity=identity()))
        index.reset("a row is wrong")
        snapshot = index.snapshot()
        assert (list(snapshot.cards), snapshot.stats.identity) == ([], IndexIdentity())
        assert any("a row is wrong" in note for note in snapshot.stats.notes)
        assert found(snapshot.keyword(terms("one"), ALL, 5)) == []
        index.apply(ChangeSet(put=(record("b.md", "two"),)))
        assert [card.id for card in index.snapshot().cards] == ["b.md"]
        assert len(found(index.snapshot().keyword(terms("two"), ALL, 5))) == 1
        assert index.verify() == []

    def test_a_repair_of_a_sound_index_changes_nothing(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "one"),), identity=identity()))
        before = index.snapshot().stats
        assert before.fault == ""
        index.repair(lambda done, total: None)
        assert index.snapshot().stats == before

    def test_sequence_numbers_grow(self, index: Index) -> None:
        numbers = [
            index.apply(ChangeSet(put=(record("a.md", "one"),))),
            index.apply(ChangeSet(restamp={"a.md": stamp(5)})),
            index.apply(ChangeSet(identity=identity())),
            index.apply(ChangeSet()),
        ]
        assert numbers == sorted(set(numbers))
        assert index.snapshot().stats.sequence == numbers[-1]

    def test_what_was_put_comes_back_whole(self, index: Index) -> None:
        put = record(
            "notes/ключ.md",
            "Первый абзац.\n- с пунктом",
            "**Ana**: a turn",
            title="Ключ: 2024",
            name="key",
            description="what it opens",
            type="project",
            tags=("a", "б"),
            aliases=("lock",),
            created=DAY,
            updated=DAY + timedelta(hours=1, microseconds=7),
            valid_from=DAY,
            valid_until=DAY + timedelta(days=9),
            supersedes=("old.md",),
            superseded_by=("new.md",),
            importance=0.25,
            pinned=True,
            source="somewhere",
            meta={"title": "Ключ: 2024", "n": 1, "list": [1, "x", None, {"k": True}]},
            links=(Link("old", LinkKind.WIKI, 3, "h", "b", "t"), Link("x.md", LinkKind.MARKDOWN, 4)),
            problems=(Problem("notes/ключ.md", "some-code", "something", 3, "n"),),
            writable=False,
            abstract="short",
            overview="longer\nthan that",
            layers_hash="made from this",
        )
        index.apply(ChangeSet(put=(put,)))
        snapshot = index.snapshot()
        (info,) = snapshot.cards
        for name in info.__dataclass_fields__:
            if name in {"stamp", "hash", "chunks"}:
                continue
            assert getattr(info, name) == getattr(put.card, name), name
        assert (info.stamp, info.hash, info.chunks) == (put.stamp, put.hash, 3)
        assert [stored.chunk for stored in snapshot.of_card("notes/ключ.md")] == list(put.chunks)
        assert snapshot.layers(["notes/ключ.md", "none.md"]) == [
            CardLayers("short", "longer\nthan that"),
            CardLayers("", ""),
        ]
        assert [layers.hash for layers in snapshot.layers(["notes/ключ.md", "none.md"])] == ["made from this", ""]

    def test_cards_come_ordered_by_id(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("b.md", "x"), record("a/z.md", "x"))))
        index.apply(ChangeSet(put=(record("Z.md", "x"), record("ä.md", "x"), record("a.md", "x"))))
        assert [card.id for card in index.snapshot().cards] == ["Z.md", "a.md", "a/z.md", "b.md", "ä.md"]

    def test_a_card_without_a_date_has_that_of_its_file(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x", dated=None), record("b.md", "x"))))
        index.apply(ChangeSet(restamp={"a.md": stamp(1_000_000), "b.md": stamp(1_000_000), "none.md": stamp(1)}))
        first, second = index.snapshot().cards
        assert first.dated == datetime.fromtimestamp(1_700_000_000, UTC) + timedelta(milliseconds=1)
        assert second.dated == DAY
        assert (first.stamp, second.stamp) == (stamp(1_000_000), stamp(1_000_000))

    def test_a_replaced_card_is_found_by_its_new_text_only(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "walnut tree"), record("b.md", "oak tree"))))
        index.apply(ChangeSet(put=(record("a.md", "birch tree"),)))
        snapshot = index.snapshot()
        assert found_cards(snapshot, snapshot.keyword(terms("walnut"), ALL, 5)) == []
        assert found_cards(snapshot, snapshot.keyword(terms("birch"), ALL, 5)) == ["a.md"]
        assert snapshot.stats.cards == 2
        assert index.verify() == []

    def test_of_two_records_for_one_id_the_last_is_kept(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "first"), record("b.md", "other"), record("a.md", "second"))))
        snapshot = index.snapshot()
        assert [stored.chunk.text for stored in snapshot.of_card("a.md")[1:]] == ["second"]
        assert snapshot.stats.cards == 2

    def test_a_removed_card_is_gone_everywhere(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "walnut tree"), record("b.md", "oak tree")), identity=identity()))
        embedded(index)
        index.apply(ChangeSet(remove=("a.md", "unknown.md")))
        snapshot = index.snapshot()
        assert [card.id for card in snapshot.cards] == ["b.md"]
        assert found_cards(snapshot, snapshot.keyword(terms("walnut tree"), ALL, 5)) == ["b.md"]
        assert set(found_cards(snapshot, snapshot.semantic(vector_of("walnut tree"), ALL, 5))) == {"b.md"}
        assert (snapshot.stats.chunks, snapshot.stats.vectors) == (2, 2)
        assert index.verify() == []

    def test_remove_comes_before_put(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "old"),)))
        index.apply(ChangeSet(put=(record("a.md", "new"),), remove=("a.md",)))
        assert [stored.chunk.text for stored in index.snapshot().of_card("a.md")[1:]] == ["new"]

    def test_the_ids_of_a_cards_chunks_follow_each_other(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "one", "two"), record("b.md", "three"), record("c.md"))))
        index.apply(ChangeSet(put=(record("b.md", "three", "four", "five"), record("0.md", "six", "seven"))))
        index.apply(ChangeSet(put=(record("a.md", "two", "one"),), remove=("c.md",)))
        snapshot = index.snapshot()
        for card in snapshot.cards:
            chunks = snapshot.of_card(card.id)
            assert [stored.id for stored in chunks] == list(range(chunks[0].id, chunks[0].id + card.chunks))
            assert [stored.chunk.position for stored in chunks] == list(range(card.chunks))
            assert snapshot.chunks([stored.id for stored in chunks]) == chunks

    def test_chunk_ids_are_never_used_again(self, index: Index) -> None:
        seen: set[int] = set()
        for text in ("one", "two", "three"):
            index.apply(ChangeSet(put=(record("a.md", text),), remove=("b.md",)))
            fresh = {stored.id for stored in index.snapshot().of_card("a.md")}
            assert not fresh & seen
            seen |= fresh

    def test_a_malformed_record_changes_nothing(self, index: Index) -> None:
        good = record("a.md", "text")
        headless = type(good)(good.card, good.chunks[1:], good.stamp, good.hash)
        with pytest.raises(IndexFault, match=r"a\.md"):
            index.apply(ChangeSet(put=(record("b.md", "text"), headless)))
        assert list(index.snapshot().cards) == []

    def test_an_undecodable_id_changes_nothing(self, index: Index) -> None:
        with pytest.raises(IndexFault, match="text"):
            index.apply(ChangeSet(put=(record("b.md", "text"), record("caf\udce9.md", "text"))))
        assert list(index.snapshot().cards) == []

    def test_text_of_any_characters_comes_back(self, index: Index) -> None:
        put = record("a.md", "lone \ud800 surrogate, NUL \0, \u2028", title="caf\udce9", meta={"k": "\udfff"})
        index.apply(ChangeSet(put=(put,)))
        snapshot = index.snapshot()
        assert [stored.chunk for stored in snapshot.of_card("a.md")] == list(put.chunks)
        assert (snapshot.cards[0].title, snapshot.cards[0].meta) == ("caf\udce9", {"k": "\udfff"})
        assert len(snapshot.keyword(terms("surrogate"), ALL, 5).chunks) == 1

    def test_a_snapshot_does_not_change(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "walnut"),), identity=identity()))
        embedded(index)
        before = index.snapshot()
        index.apply(ChangeSet(put=(record("a.md", "birch"), record("b.md", "walnut")), identity=identity("other")))
        assert [card.hash for card in before.cards] == [record("a.md", "walnut").hash]
        assert found_cards(before, before.keyword(terms("walnut"), ALL, 5)) == ["a.md"]
        assert [stored.chunk.text for stored in before.of_card("a.md")[1:]] == ["walnut"]
        assert before.stats.vectors == 2
        assert before.stats.identity == identity()

    # Vectors

    def test_pending_gives_newest_cards_first(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x", "y", day=1), record("b.md", "x", day=3), record("c.md", day=1))))
        waiting = index.snapshot().pending(MODEL, 10)
        assert [(each.card, each.chunk.position) for each in waiting] == [
            ("b.md", 0),
            ("b.md", 1),
            ("a.md", 0),
            ("a.md", 1),
            ("a.md", 2),
            ("c.md", 0),
        ]
        assert index.snapshot().pending(MODEL, 3) == waiting[:3]
        assert index.snapshot().pending(MODEL, 0) == []

    def test_chunks_without_embed_text_need_no_vector(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "", "y", title=""),), identity=identity()))
        assert [each.chunk.text for each in index.snapshot().pending(MODEL, 10)] == ["y"]
        assert index.snapshot().stats.embeddable == 1

    def test_vectors_are_taken_in_any_number_of_batches(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x", "y", "z"),), identity=identity()))
        ids = [stored.id for stored in index.snapshot().of_card("a.md")]
        rows = vectors(4)
        for part in ([2], [0, 3], [1]):
            index.apply(ChangeSet(vectors=VectorBatch(MODEL, np.array([ids[n] for n in part]), rows[part])))
            assert index.snapshot().stats.vectors == 4 - len(index.snapshot().pending(MODEL, 10))
        for place, row in enumerate(rows):
            assert found(index.snapshot().semantic(row, ALL, 1)) == [ids[place]]

    def test_vectors_of_chunks_that_are_gone_are_dropped(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        old = [stored.id for stored in index.snapshot().of_card("a.md")]
        index.apply(ChangeSet(put=(record("a.md", "new", title="t"),)))
        index.apply(ChangeSet(vectors=VectorBatch(MODEL, np.array([*old, 10_000]), vectors(3))))
        assert index.snapshot().stats.vectors == 0
        assert index.verify() == []

    def test_the_first_vector_of_a_chunk_stays(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md"),), identity=identity()))
        (stored,) = index.snapshot().of_card("a.md")
        first, second = vectors(2)
        for row in (first, second):
            index.apply(ChangeSet(vectors=VectorBatch(MODEL, np.array([stored.id]), row[None])))
        score = index.snapshot().semantic(first, ALL, 1).scores[0]
        assert score == pytest.approx(1.0, abs=0.01)

    def test_unchanged_texts_keep_their_vectors(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "stays", "goes"), record("b.md", "moves")), identity=identity()))
        embedded(index)
        index.apply(ChangeSet(put=(record("a.md", "comes", "stays"), record("c.md", "moves")), remove=("b.md",)))
        waiting = [each.chunk.text for each in index.snapshot().pending(MODEL, 10)]
        assert sorted(waiting) == ["c", "comes"]
        (best,) = index.snapshot().chunks(found(index.snapshot().semantic(vector_of("moves"), ALL, 1)))
        assert (best.card, best.chunk.text) == ("c.md", "moves")

    def test_vectors_may_all_be_gone(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        embedded(index)
        index.apply(ChangeSet(put=(record("b.md", "y"),), remove=("a.md",)))
        ids = np.array([stored.id for stored in index.snapshot().of_card("b.md")])
        evidence = index.snapshot().evidence(ids, (), vector_of("y"), 1)
        assert np.isnan(evidence.card.cosines).all()
        assert len(index.snapshot().semantic(vector_of("y"), ALL, 5).chunks) == 0

    def test_the_old_model_serves_until_the_new_one_takes_over(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        embedded(index)
        embedded(index, "model-2", 16)
        snapshot = index.snapshot()
        assert snapshot.stats.identity.model == MODEL
        assert len(snapshot.semantic(vector_of("x"), ALL, 5).chunks) == 2
        index.apply(ChangeSet(identity=identity("model-2", 16)))
        snapshot = index.snapshot()
        assert len(snapshot.semantic(vector_of("x", 16), ALL, 5).chunks) == 2
        assert len(snapshot.pending(MODEL, 10)) == 2
        assert snapshot.pending("model-2", 10) == []

    def test_an_identity_of_the_same_model_keeps_its_vectors(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        embedded(index)
        measured = type(identity())("chunking-1", MODEL, MODEL, DIM, 0.7, "texts")
        index.apply(ChangeSet(identity=measured))
        assert index.snapshot().stats.vectors == 2
        assert index.snapshot().stats.identity == measured

    def test_vectors_of_another_width_are_refused(self, index: Index) -> None:
        index.apply(ChangeSet(put=(record("a.md", "x"),), identity=identity()))
        ids = np.array([stored.id for stored in index.snapshot().of_card("a.md")])
        with pytest.raises(IndexFault):
            index.apply(ChangeSet(vectors=VectorBatch(MODEL, ids, vectors(2, DIM + 1))))
        with pytest.raises(IndexFault):
            index.apply(ChangeSet(vectors=VectorBatch(MODEL, ids, vectors(1))))
        assert index.snapshot().stats.vectors == 0
