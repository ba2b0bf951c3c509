from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogvault.indexing.dialogue import turn_terms
from cogvault.retrieval.days import day_terms
from cogvault.retrieval.explain import parts_of
from cogvault.retrieval.scoring import (
    B_DETAIL,
    Calibration,
    ScoringOptions,
    idf,
    keyword_part,
    layer_idf,
    score,
    semantic_part,
    speaker_match,
    title_strength,
)
from cogvault.retrieval.search import SearchOptions
from cogvault.text.queries import query_terms
from cogvault.text.tokens import grams, stem, words
from cogvault.types import Evidence, LayerEvidence, Term, TermKind
from tests.retrieval.values import evidence, layer

WEIGHTS = (0.4, 0.3, 0.3)
E5 = Calibration(0.75, 0.95)


def options(calibration: Calibration | None = E5, *, keyword: bool = True, semantic: float = 0.45) -> ScoringOptions:
    return ScoringOptions(WEIGHTS, semantic, 2, calibration, keyword=keyword)


def no_titles(found: Evidence) -> np.ndarray:
    return np.zeros(len(found.chunks), np.float32)


def counts_of(text: str, terms: tuple[Term, ...]) -> tuple[list[float], int]:
    """What an index would count of a query's terms in a text, and the text's length."""
    found: Counter[tuple[TermKind, str]] = Counter()
    every = words(text)
    for word in every:
        found.update([(TermKind.EXACT, word), (TermKind.STEM, stem(word)), *((TermKind.GRAM, g) for g in grams(word))])
    return [float(found[term.kind, term.text]) for term in terms], len(every)


def of_text(
    text: str, query: str, mean: float = 20.0, cosine: float = float("nan")
) -> tuple[Evidence, tuple[Term, ...]]:
    terms = query_terms(query)
    counts, length = counts_of(text, terms)
    return evidence(layer([counts], [length], mean, [cosine])), terms


@st.composite
def any_evidence(draw: st.DrawFn) -> tuple[Evidence, list[Term]]:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    counts = st.lists(
        st.lists(st.integers(0, 10_000), min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )
    cosine = st.floats(-1, 1, width=32) | st.just(float("nan"))

    def one() -> LayerEvidence:
        lengths = draw(st.lists(st.integers(0, 100_000), min_size=rows, max_size=rows))
        cosines = draw(st.lists(cosine, min_size=rows, max_size=rows))
        found = draw(counts)
        made = layer(found, lengths, draw(st.floats(0, 1e5)), cosines)
        return replace(made, counts=np.array(found, np.float32).reshape(rows, columns))

    cards = draw(st.integers(0, 100))
    chunks = cards + draw(st.integers(0, 10_000))
    terms = [
        Term(kind, f"{kind}{place}", weight)
        for place, (kind, weight) in enumerate(
            draw(
                st.lists(
                    st.tuples(st.sampled_from(TermKind), st.sampled_from([0.0, 0.5, 1.0, 1.5])),
                    min_size=columns,
                    max_size=columns,
                )
            )
        )
    ]
    made = evidence(
        one(),
        one(),
        one(),
        chunk_frequency=[draw(st.floats(0, chunks)) for _ in terms],
        card_frequency=[draw(st.floats(0, cards)) for _ in terms],
        chunk_count=chunks,
        card_count=cards,
    )
    return made, terms


any_options = st.builds(
    options,
    st.sampled_from([None, E5, Calibration(0.0, 0.8), Calibration(0.5, 0.5)]),
    keyword=st.booleans(),
    semantic=st.floats(0, 1),
)


@given(any_evidence(), any_options, st.data())
def test_every_score_is_a_number_from_0_to_1(
    found: tuple[Evidence, list[Term]], chosen: ScoringOptions, data: st.DataObject
) -> None:
    made, terms = found
    size = len(made.chunks)
    titles = np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)), np.float32)
    scores = score(made, terms, titles, chosen)
    for values in (scores.final, scores.speaker, scores.title, *(x.score for x in (scores.detail, scores.window))):
        assert values.shape == (size,)
        assert np.all(np.isfinite(values))
        assert np.all((values >= 0) & (values <= 1))


@given(any_evidence(), any_options)
def test_the_parts_of_a_score_add_up_to_it_and_are_numbers(
    found: tuple[Evidence, list[Term]], chosen: ScoringOptions
) -> None:
    made, terms = found
    scores = score(made, terms, no_titles(made), chosen)
    settings = SearchOptions(layer_weights=WEIGHTS, semantic_weight=chosen.semantic_weight)
    for place in range(len(made.chunks)):
        final = float(scores.final[place])
        parts = parts_of(scores, place, final, settings)
        assert sum(part.contribution for part in parts) == pytest.approx(final, abs=1e-3)
        assert all(np.isfinite(part.value) for part in parts)


@given(any_evidence(), any_options, st.data())
def test_more_of_a_query_term_never_lowers_the_score(
    found: tuple[Evidence, list[Term]], chosen: ScoringOptions, data: st.DataObject
) -> None:
    made, terms = found
    assume(made.detail.counts.size)
    more = made.detail.counts.copy()
    place = data.draw(st.integers(0, more.shape[0] - 1)), data.draw(st.integers(0, more.shape[1] - 1))
    more[place] += data.draw(st.integers(1, 100))
    richer = replace(made, detail=replace(made.detail, counts=more))
    before = score(made, terms, no_titles(made), chosen).final
    after = score(richer, terms, no_titles(made), chosen).final
    assert np.all(after >= before - 1e-6)


@given(any_evidence(), any_options, st.data())
def test_a_nearer_meaning_never_lowers_the_score(
    found: tuple[Evidence, list[Term]], chosen: ScoringOptions, data: st.DataObject
) -> None:
    made, terms = found
    known = np.flatnonzero(~np.isnan(made.card.cosines))
    assume(len(known))
    place = data.draw(st.sampled_from(known.tolist()))
    nearer = made.card.cosines.copy()
    nearer[place] = data.draw(st.floats(float(nearer[place]), 1, width=32))
    before = score(made, terms, no_titles(made), chosen).final
    after = score(replace(made, card=replace(made.card, cosines=nearer)), terms, no_titles(made), chosen).final
    assert np.all(after >= before - 1e-6)


@given(any_evidence(), any_options, st.integers(0, 3))
def test_a_candidate_is_scored_by_its_own_evidence_only(
    found: tuple[Evidence, list[Term]], chosen: ScoringOptions, place: int
) -> None:
    made, terms = found
    assume(place < len(made.chunks))

    def alone(whole: LayerEvidence) -> LayerEvidence:
        one = slice(place, place + 1)
        return replace(whole, counts=whole.counts[one], lengths=whole.lengths[one], cosines=whole.cosines[one])

    single = replace(
        made,
        chunks=made.chunks[place : place + 1],
        detail=alone(made.detail),
        window=alone(made.window),
        card=alone(made.card),
    )
    together = score(made, terms, no_titles(made), chosen).final[place]
    assert score(single, terms, no_titles(single), chosen).final[0] == pytest.approx(together, abs=1e-5)


@pytest.mark.parametrize(
    "query",
    [
        "where is the staging database backup",
        "POL-358",
        "getUserName fails in src/auth/login.py",
        "设备清单已更新",
        "C",
    ],
)
def test_a_chunk_equal_to_the_query_has_the_whole_keyword_part(query: str) -> None:
    found, terms = of_text(query, query)
    assert score(found, terms, no_titles(found), options(None)).detail.keyword[0] == pytest.approx(1, abs=0.02)


def test_a_chunk_that_holds_the_query_among_other_words_scores_between() -> None:
    query = "staging database backup"
    found, terms = of_text(f"{query} " + "other words follow here " * 20, query)
    assert 0.5 < score(found, terms, no_titles(found), options(None)).detail.keyword[0] < 1


def test_a_chunk_without_any_word_of_the_query_has_no_keyword_part() -> None:
    found, terms = of_text("nothing in common", "zebra quux")
    assert score(found, terms, no_titles(found), options(None)).final[0] == 0


def test_without_a_vector_the_keyword_part_counts_whole() -> None:
    query = "staging database backup"
    found, terms = of_text(query, query)
    with_model = score(found, terms, no_titles(found), options(E5)).final[0]
    assert with_model == score(found, terms, no_titles(found), options(None)).final[0]
    assert with_model == pytest.approx(1, abs=0.02)


def test_without_keyword_the_semantic_part_counts_whole() -> None:
    found, terms = of_text("nothing in common", "zebra quux", cosine=0.95)
    assert score(found, terms, no_titles(found), options(keyword=False)).final[0] == pytest.approx(1)


def test_a_query_without_words_gets_the_semantic_share_only() -> None:
    """Models find "???" near everything, so it must not pass for an answer."""
    made = evidence(layer([[]], [5], 20, [0.95]))
    assert score(made, (), no_titles(made), options()).final[0] == pytest.approx(0.45)


def test_the_mix_follows_the_semantic_weight() -> None:
    found, terms = of_text("nothing in common", "zebra quux", cosine=0.95)
    for weight in (0.0, 0.45, 1.0):
        assert score(found, terms, no_titles(found), options(semantic=weight)).final[0] == pytest.approx(weight)


@pytest.mark.parametrize("text", ["nothing in common", "the exact words"])
def test_an_exact_title_scores_at_least_09(text: str) -> None:
    found, terms = of_text(text, "the exact words")
    assert score(found, terms, np.ones(1, np.float32), options()).final[0] >= 0.9


def test_a_title_that_is_only_somewhat_like_the_query_adds_nothing() -> None:
    assert title_strength(np.array([0.0, 0.8, 1.0], np.float32)).tolist() == pytest.approx([0, 0, 1])


def test_a_word_that_stands_nowhere_says_as_much_as_one_that_stands_once() -> None:
    nowhere, once, twice = idf(np.array([0, 1, 2], np.float32), 8)
    assert nowhere == once > twice


def test_the_speaker_named_in_the_query_lifts_the_turn() -> None:
    query = "what did Ana paint"
    terms = query_terms(query)
    hers, length = counts_of("speaker:Ana i painted a lake", terms)
    about, _ = counts_of("speaker:Ben Ana painted a lake", terms)
    made = evidence(layer([hers, about], [length, length], 10, [float("nan")] * 2))
    scores = score(made, terms, no_titles(made), options(None))
    assert scores.speaker[0] > 0
    assert scores.speaker[1] == 0


def spoken_by(names: Sequence[str], query: str, frequency: dict[str, float] | None = None) -> list[float]:
    """Speaker parts of turns by these speakers, all saying the same."""
    terms = query_terms(query)
    rows = [counts_of(turn_terms(name, "painted a lake", None), terms) for name in names]
    made = evidence(
        layer([row for row, _ in rows], [length for _, length in rows], 10, [float("nan")] * len(rows)),
        chunk_frequency=[(frequency or {}).get(term.text, 1.0) for term in terms],
    )
    return speaker_match(made, terms).tolist()


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Mara Lind", "what did Mara Lind paint"),
        ("Mara Lind", "what did Mara paint"),
        ("Anna-Lena", "what did Anna-Lena paint"),
        ("Anna-Lena", "did Lena paint?"),
        ("O'Brien", "what did O'Brien paint"),
        ("Dr. Chen", "what did Chen paint"),
        ("Олена Коваль", "що малювала Олена"),
        ("王小明", "王小明画了什么"),
        ("김민수", "김민수는 무엇을 그렸나"),
        ("Zoë", "what did Zoe\u0308 paint"),
        ("R2-D2", "what did r2-d2 paint"),
    ],
)
def test_a_speaker_of_any_name_is_lifted(name: str, query: str) -> None:
    assert spoken_by([name, "Ben"], query) == [1, 0]


def test_who_is_named_in_full_is_lifted_most() -> None:
    assert spoken_by(["Mara Lind", "Jonas Lind", "Ben"], "what did Mara Lind paint") == [1, 0.5, 0]


def test_a_common_word_of_a_name_names_nobody() -> None:
    stands = {"the": 60.0, "speaker:the": 3.0, "doctor": 5.0, "speaker:doctor": 3.0}
    assert spoken_by(["The Doctor", "Ben"], "where is the lake", stands) == [0, 0]
    assert spoken_by(["The Doctor", "Ben"], "where did the doctor go", stands) == [1, 0]
    # Common, and mostly because she speaks.
    assert spoken_by(["Ana", "Ben"], "Ana", {"ana": 60.0, "speaker:ana": 40.0}) == [1, 0]


@pytest.mark.parametrize("query", ["what happened on 7 May 2023", "2023-05-07", "May 7, 2023?", "7 травня 2023"])
def test_a_day_named_in_the_query_lifts_the_turn_that_means_it(query: str) -> None:
    terms = day_terms(query, query_terms(query))
    at = datetime(2023, 5, 8, tzinfo=UTC)
    rows = [counts_of(turn_terms("Ana", said, at), terms) for said in ("we met yesterday", "we meet tomorrow")]
    made = evidence(layer([row for row, _ in rows], [n for _, n in rows], 10, [float("nan")] * 2))
    found = score(made, terms, no_titles(made), options(None))
    assert found.day[0] > 0
    assert found.day[1] == 0
    assert found.final[0] >= 0.28


def test_a_query_without_a_day_has_no_more_terms() -> None:
    terms = query_terms("ports of 2023 in May")
    assert day_terms("ports of 2023 in May", terms) == terms


def test_layers_are_weighted_as_configured() -> None:
    terms = query_terms("zebra")
    full, none = counts_of("zebra", terms)[0], [0.0] * len(terms)
    nan = [float("nan")]
    for place, expected in enumerate(WEIGHTS):
        layers = [layer([full if place == other else none], [1], 1, nan) for other in range(3)]
        made = evidence(*layers)
        assert score(made, terms, no_titles(made), options(None)).final[0] == pytest.approx(expected, abs=0.02)


def test_cosines_map_floor_to_0_and_ceiling_to_1() -> None:
    cosines = np.array([-1, 0.75, 0.85, 0.95, 1, np.nan], np.float32)
    assert semantic_part(cosines, E5)[:5].tolist() == pytest.approx([0, 0, 0.5, 1, 1], abs=1e-5)
    assert np.isnan(semantic_part(cosines, E5)[5])


def test_a_longer_chunk_with_the_same_counts_scores_lower() -> None:
    made = layer([[1.0], [1.0]], [5, 500], 50, [0, 0])
    short, long = keyword_part(made, np.ones(1, np.float32), 1, B_DETAIL)
    assert short > long


@given(st.integers(1, 10**6), st.data())
def test_a_rarer_term_says_more(units: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, units))
    high = data.draw(st.integers(low, units))
    rare, common = idf(np.array([low, high], np.float32), units)
    assert rare >= common >= 0


@given(any_evidence())
def test_idf_of_a_window_is_a_number_that_is_not_negative(found: tuple[Evidence, list[Term]]) -> None:
    made, terms = found
    for values in layer_idf(made, 2):
        assert values.shape == (len(terms),)
        assert np.all(np.isfinite(values) & (values >= 0))


def test_a_window_of_one_chunk_says_what_the_chunk_says() -> None:
    made = evidence(layer([[1.0]], [1], 1, [0]), chunk_frequency=[7], card_frequency=[3])
    detail, window, _ = layer_idf(made, 0)
    assert window.tolist() == pytest.approx(detail.tolist(), rel=1e-4)
