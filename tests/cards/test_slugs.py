from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.cards import slug
from cogvault.cards.paths import is_usable_name


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Why we chose SQLite: a decision", "why-we-chose-sqlite-a-decision"),
        ("  --Über  Größe--  ", "über-größe"),
        ("Чому ми обрали базу", "чому-ми-обрали-базу"),
        ("ภาษาไทย ทดสอบ", "ภาษาไทย-ทดสอบ"),
        ("हिन्दी में", "हिन्दी-में"),
        ("设备清单（更新）", "设备清单-更新"),
        ("../etc/passwd", "etc-passwd"),
        ("a\u200bb", "ab"),
        ("CON", "con-card"),
        ("com1", "com1-card"),
        ("LPT¹", "lpt1-card"),
        ("nul.txt", "nul-txt"),
    ],
)
def test_slug_keeps_letters_marks_and_digits_of_every_script(title: str, expected: str) -> None:
    assert slug(title) == unicodedata.normalize("NFC", expected)


def test_titles_without_letters_get_stable_different_names() -> None:
    names = [slug("🎉🎉"), slug("👩‍💻"), slug(""), slug("!!!")]
    assert len(set(names)) == 4
    assert all(name.startswith("card-") for name in names)
    assert slug("🎉🎉") == names[0]


def test_a_long_title_is_cut_between_characters() -> None:
    assert slug("漢" * 100) == "漢" * 40
    assert slug("नि" * 100, max_bytes=20) == "नि" * 3
    assert slug("a" * 100 + " " + "b" * 100, max_bytes=101) == "a" * 100


@given(st.text(), st.integers(16, 130))
@example("\u0301\u0301", 16)
@example("İstanbul", 16)
@example("con", 16)
@example("x\ud800y", 16)
def test_every_slug_is_a_usable_name_within_the_limit(title: str, max_bytes: int) -> None:
    name = slug(title, max_bytes)
    assert 0 < len(name.encode()) <= max_bytes
    assert is_usable_name(f"{name}.md")
    assert unicodedata.is_normalized("NFC", name)
    assert not unicodedata.category(name[0]).startswith("M")
    assert name == name.strip("-")


@given(st.text())
def test_a_slug_is_its_own_slug(title: str) -> None:
    assert slug(slug(title)) == slug(title)
