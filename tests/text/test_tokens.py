from __future__ import annotations

import gc
import tracemalloc
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.text.normalise import fold
from cogvault.text.tokens import MAX_WORD, grams, is_dense, is_identifier, stem, words

WILD_TEXT = st.text(st.characters(exclude_categories=()))
# Text with the joints of identifiers in it, which plain random text seldom has.
CODE_TEXT = st.text(st.sampled_from("aBcD12_-./\\:@&'’+#~ 设备テ한ที่नि\u0301\u200b\ud800"), max_size=60)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("POL-358", ["pol-358", "pol", "358"]),
        ("svc_payments", ["svc_payments", "svc", "payments"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("src/auth/login.py", ["src/auth/login.py", "src", "auth", "login", "py"]),
        ("HTTPServer2", ["httpserver2", "http", "server2", "server", "2"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        ("R&D", ["r&d", "r", "d"]),
        ("v2.1", ["v2.1", "v2", "1", "2.1", "2"]),
        ("app-v2.3.1.zip", ["app-v2.3.1.zip", "app", "v2", "3", "1", "zip", "2.3.1", "2"]),
        ("POL358", ["pol358", "pol", "358"]),
        ("35days", ["35days", "days", "35"]),
        ("1980s", ["1980s", "1980"]),
        ("naïve2", ["naïve2", "naïve", "2"]),
        ("8f31c02", ["8f31c02"]),
        ("don't", ["don't", "don", "t"]),
        ("ops@example.com", ["ops@example.com", "ops", "example", "com"]),
        ("10.0.0.7", ["10.0.0.7", "10", "0", "0", "7"]),
    ],
)
def test_an_identifier_is_found_whole_and_in_parts(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize("text", ["park.", "(park)", "“park”", "park!?", "--park", "*park*,", "park:"])
def test_punctuation_around_a_word_is_not_part_of_it(text: str) -> None:
    assert words(text) == ["park"]


def test_an_identifier_glued_to_dense_text_is_found() -> None:
    found = words("重跑gen-itgc后")
    assert {"重跑", "gen-itgc", "gen", "itgc", "后"} <= set(found)


def test_a_dense_sentence_gives_every_pair_of_its_characters() -> None:
    assert words("设备清单已更新") == ["设备", "备清", "清单", "单已", "已更", "更新"]


@pytest.mark.parametrize("text", ["เครื่องมือ", "데이터베이스를", "カタカナー", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"])
def test_pairs_of_a_dense_run_cover_it_without_gaps(text: str) -> None:
    found = words(text)
    assert all(is_dense(word) and len(word) == 2 for word in found)
    assert found[0] + "".join(word[1] for word in found[1:]) == fold(text)


@pytest.mark.parametrize("text", ["हिन्दी", "বাংলা", "தமிழ்", "עִבְרִית", "العَرَبِيَّة", "Nguyễn", "naïve"])
def test_a_word_with_marks_is_one_word(text: str) -> None:
    assert words(text) == [fold(text)]
    assert words(unicodedata.normalize("NFD", text)) == [fold(text)]


def test_a_zero_width_space_does_not_split_a_word() -> None:
    assert words("pass\u200bword") == words("password") == ["password"]


def test_words_come_in_reading_order_with_repetitions() -> None:
    assert words("one two one") == ["one", "two", "one"]


@given(WILD_TEXT)
@example("\ud800\udfff")
@example("a\x00b\udc80c")
def test_no_text_is_refused(text: str) -> None:
    for word in words(text):
        stem(word)
        grams(word)
        is_identifier(word)


@given(st.one_of(WILD_TEXT, CODE_TEXT))
def test_words_are_folded_and_bounded(text: str) -> None:
    for word in words(text):
        assert word
        assert len(word) <= MAX_WORD
        assert not any(char.isspace() for char in word)
        assert word == fold(word)[:MAX_WORD]


@given(st.one_of(WILD_TEXT, CODE_TEXT))
def test_case_and_composition_do_not_change_what_is_found_in_plain_words(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(st.one_of(st.text(st.characters(codec="ascii")), CODE_TEXT))
@example("C++ iPhone A AB ABc a'b x_1#")
def test_plain_text_gives_the_same_words_as_in_company(text: str) -> None:
    assert words(f"{text} é") == [*words(text), "é"]


@given(CODE_TEXT, CODE_TEXT)
def test_a_line_break_separates_words(one: str, other: str) -> None:
    assert words(f"{one}\n{other}") == words(one) + words(other)


HARD_UNITS = [
    "a",
    "aA",
    "a_",
    "a-b/",
    "AaA1",
    "设",
    "ที่",
    "a设",
    "\u0301",
    "'",
    "+",
    "#",
    "a+",
    "\u200b",
    "\ud800",
    "a ",
    "ß",
]


@pytest.mark.parametrize("unit", [*HARD_UNITS, "ﷺ"])
def test_100_kb_of_anything_gives_a_bounded_number_of_words(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    found = words(text)
    # Whole, parts and camelCase pieces: at most three words begin at one character (a ligature is many).
    size = max(len(text), len(fold(text)))
    assert len(found) <= 3 * size + 1
    assert sum(map(len, found)) <= 4 * size + 2 * MAX_WORD


def test_huge_tokens_are_not_kept_in_memory() -> None:
    """A vault may hold thousands of embedded images as base64: one token each, every one seen once."""
    tracemalloc.start()
    try:
        words("warm up-1")
        before, _ = tracemalloc.get_traced_memory()
        for number in range(64):
            words(f"{number}/{'aB3' * 40_000}")
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_000_000


@given(st.one_of(WILD_TEXT, CODE_TEXT))
def test_grams_of_a_word_are_distinct_and_short(text: str) -> None:
    for word in words(text):
        found = grams(word)
        assert len(set(found)) == len(found)
        assert all(1 <= len(gram) <= 4 for gram in found)


def test_inflections_share_a_stem_and_grams() -> None:
    assert stem("deployment") == stem("deployed")
    assert set(grams("deploy")) & set(grams("deploys"))
    assert not set(grams("alpha")) & set(grams("omega"))


def test_a_two_letter_word_has_a_gram_that_holds_all_of_it() -> None:
    assert grams("go") == ("<go>",)


@pytest.mark.parametrize("word", ["pol-358", "358", "c++", "src/a", "r&d", "v2"])
def test_more_than_letters_is_an_identifier(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize("word", ["policy", "हिन्दी", "café", "设备"])
def test_a_word_of_letters_is_no_identifier(word: str) -> None:
    assert not is_identifier(word)
