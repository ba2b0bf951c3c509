from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.text.sentences import ends_sentence, sentence_pieces, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("No mark at all", ["No mark at all"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He said “Go.” Then he left.", ["He said “Go.”", "Then he left."]),
        ("Dr. Ana met J. Smith e.g. on Monday. Good.", ["Dr. Ana met J. Smith e.g. on Monday.", "Good."]),
        ("It costs 3.50. Version 1.2.3 is out.", ["It costs 3.50.", "Version 1.2.3 is out."]),
        ("Wait... what? Yes…no.", ["Wait... what?", "Yes…no."]),
        ("See example.com. It works.", ["See example.com.", "It works."]),
        ("1. First step. 2. Second", ["1. First step.", "2.", "Second"]),
        ("Para one\n\nPara two", ["Para one", "Para two"]),
        ("wrapped\nline. Next", ["wrapped\nline.", "Next"]),
        ("我们决定了。好的！真的吗？", ["我们决定了。", "好的！", "真的吗？"]),
        ("彼は「はい。」と言った。次", ["彼は「はい。」", "と言った。", "次"]),
        ("यह वाक्य है। दूसरा॥तीसरा", ["यह वाक्य है।", "दूसरा॥", "तीसरा"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("Das ist z.B. gut. Ja.", ["Das ist z.B. gut.", "Ja."]),
        ("Це м. Київ, вул. Хрещатик. Так.", ["Це м. Київ, вул. Хрещатик.", "Так."]),
        ("Это я. Он ушёл.", ["Это я.", "Он ушёл."]),
        ("Սա է։ Այո։", ["Սա է։", "Այո։"]),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text())
def test_pieces_make_up_the_text(text: str) -> None:
    pieces = sentence_pieces(text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize("text", ["Yes.", "Yes?”  ", "好。", "好。」", "है।"])
def test_ends_of_sentences_are_seen(text: str) -> None:
    assert ends_sentence(text)


@pytest.mark.parametrize("text", ["", "Yes", "1.5 apples", "a, b;"])
def test_other_ends_are_none(text: str) -> None:
    assert not ends_sentence(text)


@pytest.mark.parametrize("text", [". " * 200_000, "1. " * 200_000, "." + ")" * 300_000 + "x", "\n \t" * 100_000 + "x"])
def test_hostile_texts_take_linear_time(text: str) -> None:
    # Quadratic work on these takes minutes and ends in the suite's timeout.
    assert "".join(sentence_pieces(text)) == text
