from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.text.normalise import fold, nfc, visible

ANY_TEXT = st.text()
# Any code point at all, lone surrogates included: file names and pasted text bring them.
WILD_TEXT = st.text(st.characters(exclude_categories=()))
INVISIBLE = ["\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u2060", "\ufeff", "\ufe0f"]


@given(WILD_TEXT)
@example("ΐΰ\u0345")
@example("İstanbul ﬃ ẞ ǅ")
@example("\u1e9e\u0130\u03f4\u2126")
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(ANY_TEXT)
@example("Ångström cafe\u0301 नि")
@example("\u0323\u0307q\u0307\u0323")
def test_composed_and_decomposed_forms_fold_to_one(text: str) -> None:
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@given(ANY_TEXT)
def test_ids_have_one_form_for_both_compositions(text: str) -> None:
    assert nfc(unicodedata.normalize("NFD", text)) == nfc(text)


@pytest.mark.parametrize("char", INVISIBLE)
def test_invisible_characters_do_not_split_words(char: str) -> None:
    assert fold(f"Pass{char}Word") == "password"


def test_a_joined_emoji_folds_to_its_pieces_however_it_is_written() -> None:
    assert fold("\U0001f468\u200d\U0001f469\ufe0f") == fold("\U0001f468\U0001f469")


def test_combining_marks_stay_with_their_letter() -> None:
    assert fold("नि") == "नि"
    assert fold("น้ำ") == fold("น้ํา")
    assert fold("Йод") != fold("Иод")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "straße"),
        ("ＡＢＣ１２３", "abc123"),
        ("ﬁle", "FILE"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("ё", "Ё"),
        ("ｶﾞ", "ガ"),
    ],
)
def test_case_width_and_ligatures_do_not_matter(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_visible_text_keeps_its_case() -> None:
    assert visible("Get\u200bUser ＮＡＭＥ") == "GetUser NAME"


@given(WILD_TEXT)
def test_nothing_invisible_is_left(text: str) -> None:
    assert not set(INVISIBLE) & set(fold(text))
