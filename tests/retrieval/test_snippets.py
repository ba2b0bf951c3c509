from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.retrieval.snippets import SNIPPET_CHARS, matched_words, snippet
from cogvault.text.queries import query_words

FILLER = "lorem ipsum dolor sit amet consetetur sadipscing elitr " * 12
WILD_TEXT = st.text(st.characters(exclude_categories=()), max_size=600)


def around(text: str, query: str, size: int = SNIPPET_CHARS) -> str:
    asked = tuple(query_words(query))
    return snippet(text, matched_words(text, asked), size)


def test_query_words_are_matched_by_their_stem() -> None:
    assert matched_words("The databases were deployed", ("database", "deployment", "zebra")) == (
        "database",
        "deployment",
    )


def test_matched_words_come_in_the_order_of_the_query() -> None:
    assert matched_words("alpha beta", ("beta", "alpha")) == ("beta", "alpha")


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert around("one\n\n- two\tthree \r\n", "two") == "one - two three"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (f"{FILLER} the staging database {FILLER}", "staging database"),
        (f"{FILLER} Straße {FILLER}", "straße"),
        (f"ß ﬁ ㎏ {FILLER} zebra {FILLER}", "zebra"),
        (f"ß {FILLER} Straße {FILLER}", "STRASSE"),
        (f"{FILLER} cafe\u0301 {FILLER}", "café"),
        (f"{FILLER} pass\u200bword {FILLER}", "password"),
        (f"{FILLER} 重跑gen-itgc后 {FILLER}", "itgc"),
        (f"{'备注说明' * 100}设备清单{'备注说明' * 100}", "清单"),
        (f"{FILLER} getUserName() {FILLER}", "user"),
        (f"{FILLER} C++ {FILLER}", "C++"),
        (f"good ago {FILLER} Go {FILLER}", "go"),
        (f"{FILLER} ＺＥＢＲＡ {FILLER}", "zebra"),
        (f"{FILLER} İstanbul {FILLER}", "istanbul İstanbul"),
    ],
)
def test_a_long_text_is_shown_around_a_matched_word(text: str, query: str) -> None:
    asked = tuple(query_words(query))
    assert matched_words(text, asked)
    shown = around(text, query)
    assert matched_words(shown, asked)
    assert len(shown) <= SNIPPET_CHARS + 2


def test_the_densest_place_is_shown() -> None:
    text = f"billing {FILLER} export {FILLER} the billing export failed {FILLER}"
    assert "billing export failed" in around(text, "billing export failed")


def test_cuts_are_shown_and_fall_between_words() -> None:
    shown = around(f"{FILLER} zebra {FILLER}", "zebra")
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert set(shown.strip("…").split()) <= {*FILLER.split(), "zebra"}


def test_a_text_without_a_match_is_shown_from_its_beginning() -> None:
    assert around(FILLER, "zebra").startswith("lorem ipsum")


@given(WILD_TEXT, WILD_TEXT, st.integers(1, 300))
@example("x" * 500, "x", 240)
@example("a b " * 100, "a b", 10)
def test_a_snippet_is_one_line_of_bounded_length(text: str, query: str, size: int) -> None:
    shown = around(text, query, size)
    assert len(shown) <= size + 2
    assert not {"\n", "\r", "\t", "\0", "\u2028"} & set(shown)


fillers = st.lists(
    st.sampled_from([*FILLER.split()[:8], "ß", "ﬁn", "é", "e\u0301", "設備", "a\u00adb"]), min_size=1
).map(lambda words: " ".join(words * 20))


@given(
    fillers,
    fillers,
    st.sampled_from(["zebra", "Zebras", "svc_zebra", "ｚｅｂｒａ", "ze\u200bbra"]),
    st.integers(80, 240),
)
def test_one_matched_word_anywhere_is_in_the_snippet(before: str, after: str, word: str, size: int) -> None:
    assert matched_words(around(f"{before} {word} {after}", "zebra", size), ("zebra",))
