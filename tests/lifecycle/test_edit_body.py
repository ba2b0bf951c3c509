"""Edits of bodies and sections leave every other byte where it was, or are refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.edit import append_body, append_section, replace_body, replace_section
from cogvault.errors import CardError

CARD = b"""---
title: x
---

# Plan

intro

## Open items

- one
- two

### Later

- three

## Done

```
## Open items
```
"""


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_a_section_is_replaced_up_to_the_next_heading_of_its_level(newline: bytes, bom: bytes) -> None:
    card = bom + CARD.replace(b"\n", newline)
    edited = replace_section(card, "Open items", "- four\n- five")
    inner = b"- one\n- two\n\n### Later\n\n- three\n".replace(b"\n", newline)
    assert edited == card.replace(inner, b"- four\n- five\n".replace(b"\n", newline))
    assert replace_section(edited, "Open items", "- four\n- five\n") == edited


@pytest.mark.parametrize("name", ["later", "### Later", "  LATER ", "**Later**"])
def test_a_heading_is_found_whatever_its_case_and_marks(name: str) -> None:
    assert replace_section(CARD, name, "- 3") == CARD.replace(b"- three", b"- 3")


def test_text_may_bring_the_heading_along() -> None:
    assert replace_section(CARD, "Later", "### Later\n\n- 3\n") == CARD.replace(b"- three", b"- 3")


def test_append_goes_to_the_end_of_the_section() -> None:
    assert append_section(CARD, "Open items", "- four") == CARD.replace(b"- three\n", b"- three\n- four\n")
    assert append_section(CARD, "Plan", "end") == CARD + b"\nend\n", "its subsections belong to it"
    assert append_section(b"# A\ntext", "A", "more") == b"# A\ntext\n\nmore\n"
    assert append_section(b"# A\r\ntext\r\n# B", "A", "more") == b"# A\r\ntext\r\n\r\nmore\r\n\r\n# B"


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (b"# A", b"# A\n\nx\n"),
        (b"# A\n", b"# A\n\nx\n"),
        (b"# A\n\n", b"# A\n\nx\n"),
        (b"# A\n# B\n", b"# A\n\nx\n\n# B\n"),
        (b"# A\n\n# B\n", b"# A\n\nx\n\n# B\n"),
        (b"# A\n\n\n# B\n", b"# A\n\nx\n\n# B\n"),
        (b"A\n=\n\nB\n=\n", b"A\n=\n\nx\n\nB\n=\n"),
    ],
)
def test_an_empty_section_is_filled(card: bytes, expected: bytes) -> None:
    assert replace_section(card, "A", "x") == expected
    assert append_section(card, "A", "x") == expected
    assert replace_section(expected, "A", "x") == expected


@pytest.mark.parametrize("name", ["Open items", "## Open items"])
def test_a_heading_that_only_carries_the_name_is_not_the_section(name: str) -> None:
    card = CARD.replace(b"## Open items\n\n", b"## Open items #urgent\n\n")
    with pytest.raises(CardError, match="no section") as caught:
        replace_section(card, name, "x")
    assert "Open items #urgent" in (caught.value.hint or "")


def test_an_ambiguous_heading_is_refused_and_its_places_are_named() -> None:
    card = b"# A\n\n## Log\n\none\n\n# B\n\n## Log\n\ntwo\n"
    for edit in (replace_section, append_section):
        with pytest.raises(CardError, match=r"2 sections.*lines 3, 9"):
            edit(card, "Log", "x")
    assert replace_section(b"# Log\n\n## Log\n\nx\n", "## Log", "y") == b"# Log\n\n## Log\n\ny\n"


@pytest.mark.parametrize("text", ["## New\n\nx", "# Up", "```\nopen fence", "Setext\n---\n"])
def test_text_that_would_change_the_sections_around_is_refused(text: str) -> None:
    for edit in (replace_section, append_section):
        with pytest.raises(CardError):
            edit(CARD, "Open items", text)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (b"old\n", b"new\n"),
        (b"", b"new\n"),
        (b"---\r\na: 1\r\n---\r\n\r\nold\r\n", b"---\r\na: 1\r\n---\r\n\r\nnew\r\n"),
        (b"---\na: 1\n---", b"---\na: 1\n---\nnew\n"),
        (b"---\na: b: c\n---\nold", b"---\na: b: c\n---\nnew\n"),
    ],
)
def test_the_body_is_replaced_and_the_frontmatter_stays(card: bytes, expected: bytes) -> None:
    assert replace_body(card, "new\n") == expected
    assert replace_body(expected, "new") == expected


def test_the_body_keeps_its_rules_and_dashes() -> None:
    assert replace_body(b"---\na: 1\n---\nold\n", "x\n---\ny\n\n---\n") == b"---\na: 1\n---\nx\n---\ny\n\n---\n"


@pytest.mark.parametrize(
    "card", [b"---\ntitle: x\nno closer\n", b"caf\xe9\n", codecs.BOM_UTF16_BE + b"\x00a", b"a\x00"]
)
def test_a_body_that_cannot_be_written_is_refused(card: bytes) -> None:
    with pytest.raises(CardError):
        replace_body(card, "new")


@pytest.mark.parametrize("text", ["---\na: 1\n---\nx", "---\nx"])
def test_text_that_would_become_frontmatter_is_refused(text: str) -> None:
    with pytest.raises(CardError, match="frontmatter"):
        replace_body(b"old\n", text)
    with pytest.raises(CardError, match="frontmatter"):
        append_body(b"", text)


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_text_that_no_card_can_hold_is_refused(text: str) -> None:
    for edit in (replace_body, append_body):
        with pytest.raises(CardError):
            edit(b"old\n", text)


def test_append_keeps_lists_together_and_paragraphs_apart() -> None:
    assert append_body(b"- a\n", "- b") == b"- a\n- b\n"
    assert append_body(b"a", "b") == b"a\n\nb\n"
    assert append_body(b"a\r\n", "b\nc") == b"a\r\n\r\nb\r\nc\r\n"
    assert append_body(b"a\n\n", "b") == b"a\n\nb\n"
    assert append_body(b"", "b") == b"b\n"
    assert append_body(b"---\na: 1\n---\n", "b") == b"---\na: 1\n---\nb\n"
    assert append_body(b"a", "\n") == b"a"


_lines = st.lists(
    st.sampled_from(
        ["", "# A", "## B", "### C", "text", "- item", "```", "> quote", "---", "===", "| a |", "    code"]
    ),
    max_size=12,
)
_newlines = st.sampled_from(["\n", "\r\n", "\r"])


@given(card=_lines, text=_lines, newline=_newlines, heading=st.sampled_from(["A", "B", "C"]), end=st.booleans())
def test_everything_outside_the_section_keeps_its_bytes(
    card: list[str], text: list[str], newline: str, heading: str, end: bool
) -> None:
    data = (newline.join(["# Z", *card]) + (newline if end else "")).encode()
    new = "\n".join(text)
    try:
        edited = replace_section(data, heading, new)
    except CardError:
        return
    before, after = data.decode().split(newline), edited.decode().split(newline)
    names = {"A": ("# A",), "B": ("## B",), "C": ("### C",)}[heading]
    if any(line in names for line in before):
        at = min(before.index(line) for line in names if line in before)
        assert after[:at] == before[:at]
    assert replace_section(edited, heading, new) == edited


@given(card=_lines, text=_lines, newline=_newlines)
def test_append_keeps_all_bytes_in_front(card: list[str], text: list[str], newline: str) -> None:
    data = newline.join(card).encode()
    try:
        edited = append_body(data, "\n".join(text))
    except CardError:
        return
    assert edited.startswith(data)
    ending = newline if newline in data.decode() else "\n"
    assert "\n".join(text).strip("\n").replace("\n", ending).encode() in edited


@given(card=_lines, text=_lines, newline=_newlines)
def test_replacing_the_body_twice_changes_nothing_more(card: list[str], text: list[str], newline: str) -> None:
    data = f"---{newline}k: 1{newline}---{newline}".encode() + newline.join(card).encode()
    edited = replace_body(data, "\n".join(text))
    assert edited.startswith(data[: data.index(b"1") + 4])
    assert replace_body(edited, "\n".join(text)) == edited
