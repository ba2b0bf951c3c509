"""What was written just now is compared as if every text were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.lifecycle import recent
from cogvault.lifecycle.recent import RecentTexts
from cogvault.text.likeness import NEAR, Print, likeness, print_of

_WORDS = ["a", "the", "deploy", "deploys", "POL-358", "v1.2", "設備", "Tuesday", "on", "ten"]
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join), max_size=12)


@given(_TEXTS, st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join))
def test_what_is_found_is_what_a_comparison_with_each_finds(texts: list[str], asked: str) -> None:
    texts = list({print_of(text).digest: text for text in texts}.values())
    found, wanted = RecentTexts(), print_of(asked)
    for text in texts:
        found.add(text, print_of(text), "")
    alike = [text for text in reversed(texts) if likeness(wanted, print_of(text)) >= NEAR]
    assert found.like(wanted) == alike
    assert found.same(wanted, "") == next((text for text in texts if print_of(text).digest == wanted.digest), None)


def test_the_newest_are_compared_and_more_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_COMPARED", 2)
    monkeypatch.setattr(recent, "_KEPT", 3)
    texts = RecentTexts()
    for number in range(4):
        texts.add(f"{number}.md", print_of(f"the build takes {number} minutes"), "")
    texts.add("again.md", print_of("the build takes 2 minutes"), "")
    assert texts.like(print_of("the build takes long minutes")) == ["again.md", "3.md"]
    kept = [texts.same(print_of(f"the build takes {number} minutes"), "") for number in range(4)]
    assert kept == [None, "1.md", "again.md", "3.md"]


def test_texts_that_share_too_little_are_not_compared_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Print] = []

    def counting(one: Print, other: Print) -> float:
        compared.append(other)
        return likeness(one, other)

    monkeypatch.setattr(recent, "likeness", counting)
    texts = RecentTexts()
    for number in range(9):
        own = " ".join(f"word{letter}{number}" for letter in "abcdefg")
        texts.add(f"{number}.md", print_of(f"{('alpha build gamma', 'delta harbor zebra')[number % 2]} {own}"), "")
    like = "alpha build gamma delta harbor zebra tuesday morning review"
    texts.add("like.md", print_of(f"{like} here"), "")
    assert texts.like(print_of(f"{like} there")) == ["like.md"]
    assert len(compared) == 1
