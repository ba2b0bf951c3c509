from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.text.queries import (
    EXACT_WEIGHT,
    IDENTIFIER_WEIGHT,
    MAX_QUERY_BYTES,
    MAX_QUERY_WORDS,
    SPEAKER_FIELD,
    cut_query,
    query_terms,
    query_words,
)
from cogvault.text.tokens import words
from cogvault.types import TermKind

WILD_TEXT = st.text(st.characters(exclude_categories=()))


def exact(text: str) -> dict[str, float]:
    """Exact terms that find candidates, with their weights."""
    return {term.text: term.weight for term in query_terms(text) if term.kind is TermKind.EXACT and term.weight > 0}


@pytest.mark.parametrize("unit", ["a", "é", "设", "\U0001f600"])
def test_at_most_8_kib_are_used_and_no_character_is_cut_in_half(unit: str) -> None:
    text = unit * 50_000
    used = cut_query(text)
    assert text.startswith(used)
    assert MAX_QUERY_BYTES - 4 < len(used.encode()) <= MAX_QUERY_BYTES


@given(WILD_TEXT)
@example("\ud800 half a pair")
def test_a_short_query_is_used_whole_and_can_be_encoded(text: str) -> None:
    used = cut_query(text)
    assert len(used) == len(text)
    used.encode()


def test_a_50_kb_paste_gives_a_bounded_number_of_terms() -> None:
    paste = " ".join(f"word{number}Name_{number * 7}" for number in range(3_000))
    assert len(paste) > 50_000
    assert len(query_words(cut_query(paste))) == MAX_QUERY_WORDS
    assert len(query_terms(cut_query(paste))) <= MAX_QUERY_WORDS * (2 + 66)


def test_a_thousand_one_letter_words_are_cut_to_the_cap() -> None:
    letters = " ".join(chr(0x0430 + number % 32) + chr(0x61 + number % 26) for number in range(1_000))
    assert len(query_words(letters)) == MAX_QUERY_WORDS


def test_of_many_words_the_first_are_used() -> None:
    spelled = [f"{number:03}".translate(str.maketrans("0123456789", "abcdefghij")) for number in range(100)]
    assert query_words(" ".join(spelled)) == spelled[:MAX_QUERY_WORDS]


@pytest.mark.parametrize("text", ["-foo", "--foo", "foo-", '"foo"', "foo*", "+foo", "(foo", "foo)", "^foo", "foo\\"])
def test_signs_around_a_word_are_no_syntax(text: str) -> None:
    assert query_terms(text) == query_terms("foo")


@pytest.mark.parametrize("word", ["AND", "OR", "NOT", "NEAR"])
def test_reserved_words_are_words(word: str) -> None:
    assert list(exact(f"lint {word} commit")) == ["lint", word.lower(), "commit"]


def test_a_field_prefix_is_literal() -> None:
    assert exact("title:foo") == {"title:foo": IDENTIFIER_WEIGHT, "title": EXACT_WEIGHT, "foo": EXACT_WEIGHT}


def test_apostrophes_are_part_of_a_word() -> None:
    assert list(exact("Baker's")) == ["baker's", "baker", "s"]


def test_an_identifier_weighs_more_than_a_word() -> None:
    weights = exact("policy POL-358")
    assert weights["pol-358"] > weights["policy"]


@pytest.mark.parametrize("text", ["", "   ", "?!…", "—", "\u200b", "🎉", "\ud800"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert query_terms(text) == ()


@pytest.mark.parametrize("text", ["C", "Go", "R&D", "C++", "é", "用", "7"])
def test_the_shortest_queries_have_terms(text: str) -> None:
    kinds = {term.kind for term in query_terms(text) if term.weight > 0}
    assert kinds >= {TermKind.EXACT, TermKind.STEM}


@given(st.one_of(WILD_TEXT, st.text("aAbB speaker:-_.'设备", max_size=80)))
@example("speaker:ana ana")
@example("the the The THE")
def test_each_kind_and_text_comes_once_with_a_weight_that_is_not_negative(text: str) -> None:
    terms = query_terms(text)
    keys = [(term.kind, term.text) for term in terms]
    assert len(set(keys)) == len(keys)
    assert all(term.weight >= 0 and term.text for term in terms)


@given(WILD_TEXT)
def test_every_word_of_a_short_query_has_an_exact_term(text: str) -> None:
    used = cut_query(text)
    expected = list(dict.fromkeys(words(used)))[:MAX_QUERY_WORDS]
    assert list(exact(used)) == expected


def test_words_count_as_they_are_told_to_in_every_form() -> None:
    plain = query_terms("the backup")
    told = query_terms("the backup", {"the": 0.25, "backup": 1.0}.__getitem__)
    shares = {1.0 if term.weight == 0 else now.weight / term.weight for term, now in zip(plain, told, strict=True)}
    assert [(term.kind, term.text) for term in told] == [(term.kind, term.text) for term in plain]
    assert shares == {0.25, 1.0}


def test_a_form_of_two_words_counts_as_the_one_that_counts_most() -> None:
    weights = {"backs": 0.2, "backsaw": 0.9}
    for text in ("backs backsaw", "backsaw backs"):
        stems = {t.text: t.weight for t in query_terms(text, weights.__getitem__) if t.kind is TermKind.STEM}
        assert stems == {"backs": 0.9}


def test_the_form_of_a_speaker_finds_no_candidates() -> None:
    weights = {term.text: term.weight for term in query_terms("what did Ana say")}
    assert weights[f"{SPEAKER_FIELD}ana"] == 0


def test_a_query_that_writes_the_speaker_form_itself_keeps_its_weight() -> None:
    weights = {term.text: term.weight for term in query_terms("speaker:ana ana")}
    assert weights["speaker:ana"] == IDENTIFIER_WEIGHT
