"""Keys that are not read as they are written, and what each was meant to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.cards.key_names import KNOWN_KEYS, misnamed


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("Pinned", True, "pinned"),
        ("PINNED", "yes", "pinned"),
        ("pinned\u00a0", True, "pinned"),
        ("\u200bpinned", True, "pinned"),
        ("pin", True, "pinned"),
        ("evergreen", "Yes", "pinned"),
        ("Type", "user", "type"),
        ("valid-until", "2026-05-01", "valid_until"),
        ("validUntil", "2026-05-01", "valid_until"),
        ("tag", "ops", "tags"),
        ("Alias", "ops", "aliases"),
    ],
)
def test_a_key_beside_a_known_one_is_told(key: str, value: object, meant: str) -> None:
    assert [(one.key, one.meant) for one in misnamed({key: value})] == [(key, meant)]
    assert [one.meant for one in misnamed({"metadata": {key: value}})] == [meant]


@pytest.mark.parametrize(
    "meta",
    [
        {"pinned": True, "Pinned": True},
        {"metadata": {"type": "user"}, "Type": "user"},
        {"pin": 4711},
        {"evergreen": False},
        {"Pinned": None},
        {"team": "platform", "spin": True, "titles": "two"},
        {"metadata": "Pinned: true"},
    ],
)
def test_other_keys_are_nobodys_business(meta: dict[str, object]) -> None:
    assert misnamed(meta) == ()


@given(st.dictionaries(st.sampled_from(sorted(KNOWN_KEYS)), st.text(min_size=1)))
def test_known_keys_are_never_told(meta: dict[str, object]) -> None:
    assert misnamed(meta) == ()


def test_a_card_names_the_line_and_keeps_the_key() -> None:
    card = MarkdownCardParser().parse(b"---\ntitle: A\nPinned: true\n---\nbody\n", id="a.md", path="a.md")
    assert not card.pinned
    assert card.meta["Pinned"] is True
    [problem] = card.problems
    assert (problem.code, problem.line, problem.key) == ("frontmatter-key", 3, "pinned")
    assert problem.message == "the key 'Pinned' is not read: write pinned"


def test_a_review_day_that_is_no_date_is_told() -> None:
    card = MarkdownCardParser().parse(b"---\nreview_by: next spring\n---\nbody\n", id="a.md", path="a.md")
    assert [(problem.code, problem.line, problem.key) for problem in card.problems] == [
        ("date-invalid", 2, "review_by")
    ]
