"""The pure parts of the indexes: rows to values and back, counting, frequencies, quantisation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexes import bm25, int8
from cogvault.indexes.filters import mask, matches
from cogvault.indexes.infos import card_info
from cogvault.indexes.local import codec
from cogvault.indexes.local.arrays import distinct, ranges, runs, sizes_between
from cogvault.indexes.local.counting import Place, ResolvedTerms
from cogvault.testing.records import DAY, record, stamp, vectors
from cogvault.types import Chunk, ChunkKind, Filter, IndexIdentity, Term, TermKind

_TEXT = st.text(st.characters() | st.sampled_from(["\ud800", "\0", "\u2028"]), max_size=40)


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=30), max_size=5))
def test_word_ids_come_back(cards: list[list[int]]) -> None:
    rows = [codec.unpack_words(codec.encode_words(np.array(ids, np.int64))) for ids in cards]
    assert codec.join_words(rows).tolist() == [word for ids in cards for word in ids]


@given(st.lists(st.tuples(_TEXT, _TEXT, _TEXT, st.sampled_from(ChunkKind)), max_size=4))
def test_chunks_come_back(texts: list[tuple[str, str, str, ChunkKind]]) -> None:
    chunks = [
        Chunk(place, kind, text, f"{before}{text}", f"{text}{after}", 1, 2, (before, after), after or None, DAY)
        for place, (text, before, after, kind) in enumerate(texts)
    ]
    content = codec.encode_chunks(chunks)
    assert codec.decode_chunks(content) == chunks
    assert codec.decode_chunks(content, range(1, len(chunks), 2)) == chunks[1::2]


@given(_TEXT, _TEXT)
def test_cards_come_back(title: str, value: str) -> None:
    made = record("a.md", title=title, meta={"key": [value, 1.5, None]}, dated=None)
    info = codec.decode_card(
        codec.encode_card(made.card), id="a.md", stamp=made.stamp, hash=made.hash, chunks=1, mtime=DAY
    )
    assert info.title == title
    assert info.meta == {"key": [value, 1.5, None]}
    assert info.dated == DAY


def test_frontmatter_shares_its_texts_with_the_card_and_its_keys_with_other_cards() -> None:
    made = record(
        "a.md", title="On call rota", type="project", meta={"title": "On call rota", "type": "project", "n": [1]}
    )
    first, second = (
        codec.decode_card(codec.encode_card(made.card), id="a.md", stamp=made.stamp, hash="", chunks=1, mtime=DAY)
        for _ in range(2)
    )
    assert dict(first.meta) == dict(made.card.meta)
    assert first.meta["title"] is first.title
    assert first.meta["type"] is first.type is second.type
    assert all(one is other for one, other in zip(first.meta, second.meta, strict=True))


def test_an_identity_of_a_later_version_is_read() -> None:
    assert codec.decode_identity('{"chunking": "c", "later": 1}') == IndexIdentity("c")


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 6)), max_size=8))
def test_ranges_are_put_one_after_another(pairs: list[tuple[int, int]]) -> None:
    first = np.array([start for start, _ in pairs], np.int64)
    counts = np.array([count for _, count in pairs], np.int64)
    assert ranges(first, counts).tolist() == [n for start, count in pairs for n in range(start, start + count)]


@given(
    st.lists(st.sets(st.integers(0, 19)), max_size=9),
    st.lists(st.integers(0, 9), max_size=12),
    st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 19), max_size=12)), max_size=5),
)
def test_terms_are_counted_one_by_one(
    sets: list[set[int]], asked: list[int], texts: list[tuple[int, list[int]]]
) -> None:
    # Terms of one place have the same words; one beyond the last place does not occur.
    places: list[Place | None] = [("exact", n) if n < len(sets) else None for n in asked]
    members = [sets[n] if n < len(sets) else set[int]() for n in asked]
    none = np.zeros(len(asked), np.float32)
    resolved = ResolvedTerms.of([np.array(sorted(m), np.uint32) for m in members], places, (none, none), 20)
    counts = resolved.count(
        np.array([word for _, text in texts for word in text], np.int64),
        np.array([len(text) for _, text in texts], np.int64),
        np.array([row for row, _ in texts], np.int64),
        3,
    )
    assert counts.shape == (3, resolved.width)
    assert resolved.by_term(counts).tolist() == [
        [sum(word in member for at, text in texts if at == row for word in text) for member in members]
        for row in range(3)
    ]


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 1000))
def test_frequencies_are_those_of_independent_words(counts: list[int], total: int) -> None:
    held = np.minimum(np.array(counts, np.int64), total)
    absence = bm25.log_absence(held, total)
    expected = total * (1 - np.prod(1 - held / total))
    found = bm25.frequencies(np.array([absence.sum(), absence[::-1].sum()], np.int64), total)
    assert found.tolist() == pytest.approx([expected] * 2, rel=1e-5, abs=1e-4)
    assert found[0] == found[1]


def test_a_word_of_every_chunk_says_least() -> None:
    terms = [Term(TermKind.EXACT, "a", 1.0), Term(TermKind.EXACT, "b", 1.0)]
    counts, lengths = np.eye(2, dtype=np.float32), np.ones(2, np.float32)
    common, rare = bm25.scores(counts, lengths, 1.0, np.array([100, 1], np.float32), 100, terms)
    assert 0 < common < rare


@given(st.integers(1, 40), st.integers(0, 1000))
def test_quantised_cosines_are_near(dim: int, seed: int) -> None:
    one, two = vectors(2, dim, seed)
    rows = int8.quantise(np.stack([one, two]))
    assert int8.squares(rows).tolist() == [int(np.dot(row.astype(int), row.astype(int))) for row in rows]
    dot = np.array([np.dot(rows[0].astype(int), rows[1].astype(int))], np.float64)
    squares = int8.squares(rows)
    cosine = int8.cosines(dot, int(squares[0]), squares[1:].astype(np.float64))[0]
    assert cosine == pytest.approx(float(one @ two), abs=0.02)


_SOME = st.sampled_from(["a", "B", "b", "é", "É", "x/y"])


@given(
    st.lists(st.tuples(st.sampled_from(["a.md", "x/a.md", "x/y/b.md", "xy.md"]), _SOME, st.integers(0, 4)), max_size=5),
    st.builds(
        Filter,
        types=st.frozensets(_SOME, max_size=2),
        tags=st.frozensets(_SOME, max_size=1),
        paths=st.lists(st.sampled_from(["x", "X/", "x/y", "./x", "."]), max_size=2).map(tuple),
        outside=st.lists(st.sampled_from(["x", "x/y"]), max_size=1).map(tuple),
        after=st.none() | st.integers(0, 4).map(lambda day: DAY + timedelta(days=day)),
        where=st.lists(st.tuples(st.just("Key"), _SOME), max_size=1).map(tuple),
    ),
)
def test_a_mask_is_what_matches(cards: Sequence[tuple[str, str, int]], filter: Filter) -> None:
    infos = [card_info(record(id, type=some, tags=(some, "a"), meta={"key": some}, day=day)) for id, some, day in cards]
    assert mask(infos, filter).tolist() == [matches(info, filter) for info in infos]


def test_an_unset_date_is_that_of_the_file() -> None:
    info = card_info(record("a.md", dated=None))
    assert info.dated.timestamp() * 1e9 == pytest.approx(stamp(0).mtime_ns, abs=1e4)


@given(st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1)))
def test_distinct_numbers_are_those_of_numpy(values: list[int]) -> None:
    numbers = np.array(values, np.int64)
    assert distinct(numbers).tolist() == np.unique(numbers).tolist()


@given(st.lists(st.integers(-3, 3), max_size=40))
def test_runs_of_equal_numbers_are_told_by_start_and_size(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    starts, sizes = runs(values)
    assert np.repeat(values[starts], sizes).tolist() == numbers
    assert (values[starts[1:]] != values[starts[:-1]]).all()


@given(st.lists(st.integers(0, 5), max_size=20))
def test_ends_of_runs_become_their_sizes(sizes: list[int]) -> None:
    ends = np.cumsum(np.array(sizes, np.int64))
    kept = ends.copy()
    assert sizes_between(ends).tolist() == sizes
    assert ends.tolist() == kept.tolist()
