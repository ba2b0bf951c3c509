"""Setting and unsetting keys changes the lines of those keys and nothing else."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.cards.edit import set_keys
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.errors import CardError
from cogvault.types import JsonValue

CARD = b"""---
# who wrote it
title: "Quoted: a title"  # keep me
created: 2026-05-26
type: project
tags:
  - one  # first
  - 'two'

# about the rest
custom: {a: 1, b: [x, y]}
note: |
  lines
  # not a comment
importance: 0.5
---

# Heading

text --- with dashes
---
more
"""


def _meta(data: bytes) -> dict[str, JsonValue]:
    return dict(MarkdownCardParser().parse(data, id="a.md", path="a.md").meta)


def _changed(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Lines that are in one only."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("change", "gone", "come"),
    [
        ({"title": "New"}, [b'title: "Quoted: a title"  # keep me\n'], [b'title: "New"  # keep me\n']),
        ({"type": "user"}, [b"type: project\n"], [b"type: user\n"]),
        ({"created": "2026-05-27"}, [b"created: 2026-05-26\n"], [b"created: 2026-05-27\n"]),
        ({"tags": ["one", "two", "three"]}, [], [b"  - three\n"]),
        ({"tags": ["two"]}, [b"  - one  # first\n"], []),
        ({"importance": 0.75}, [b"importance: 0.5\n"], [b"importance: 0.75\n"]),
        ({"pinned": True}, [], [b"pinned: true\n"]),
        ({"custom": {"a": 2}}, [b"custom: {a: 1, b: [x, y]}\n"], [b"custom: {a: 2}\n"]),
        ({"description": "a: b # c"}, [], [b"description: 'a: b # c'\n"]),
    ],
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_only_the_lines_of_the_key_change(
    change: dict[str, JsonValue], gone: list[bytes], come: list[bytes], newline: bytes, bom: bytes
) -> None:
    card = bom + CARD.replace(b"\n", newline)
    edited = set_keys(card, change)
    expected = [line.replace(b"\n", newline) for line in gone], [line.replace(b"\n", newline) for line in come]
    assert _changed(card, edited) == expected
    assert _meta(edited) == {**_meta(card), **change}
    assert set_keys(edited, change) == edited


def test_block_text_is_replaced_with_all_of_its_lines() -> None:
    edited = set_keys(CARD, {"note": "short"})
    assert b"note: short\nimportance" in edited


def test_unset_takes_the_lines_of_the_key_only() -> None:
    edited = set_keys(CARD, {}, ["tags", "note", "absent"])
    assert b"# about the rest\n" in edited
    assert _meta(edited) == {key: value for key, value in _meta(CARD).items() if key not in ("tags", "note")}
    assert set_keys(edited, {}, ["tags", "note"]) == edited


def test_a_card_without_block_gets_one_and_no_blank_line() -> None:
    assert set_keys(b"# Title\r\ntext", {"type": "user"}) == b"---\r\ntype: user\r\n---\r\n# Title\r\ntext"
    assert set_keys(b"", {"type": "user"}) == b"---\ntype: user\n---\n"
    assert set_keys(b"text\n", {}, ["type"]) == b"text\n"


@pytest.mark.parametrize("card", [b"# Title\r\ntext", b"", b"\n\ntext\n", b"\xef\xbb\xbftext\n"])
def test_unset_of_the_last_key_gives_the_card_back_that_had_no_block(card: bytes) -> None:
    edited = set_keys(card, {"type": "user", "importance": 0.5})
    assert set_keys(edited, {}, ["importance", "type"]) == card


def test_a_block_stays_when_it_says_something_or_the_body_would_become_one() -> None:
    assert set_keys(b"---\n# why\ntype: user\n---\nbody\n", {}, ["type"]) == b"---\n# why\n---\nbody\n"
    body = b"---\nauthor: me\n---\nbody\n"
    assert set_keys(b"---\ntype: user\n---\n" + body, {}, ["type"]) == b"---\n---\n" + body


@pytest.mark.parametrize("block", [b"", b"# only a comment\n", b"\n"])
def test_an_empty_block_takes_keys(block: bytes) -> None:
    edited = set_keys(b"---\n" + block + b"---\nbody\n", {"type": "user"})
    assert edited == b"---\n" + block + b"type: user\n---\nbody\n"


def test_the_closing_fence_may_be_the_last_bytes() -> None:
    assert set_keys(b"---\na: 1\n---", {"b": 2}) == b"---\na: 1\nb: 2\n---"


def test_keys_under_metadata_are_changed_there() -> None:
    card = b"---\nname: x\nmetadata:\n  type: user  # kind\n  node: y\nother: 1\n---\n"
    assert set_keys(card, {"type": "feedback"}) == card.replace(b"type: user", b"type: feedback")
    assert set_keys(card, {"type": "user"}) == card
    assert set_keys(card, {"node": "z"}).endswith(b"other: 1\nnode: z\n---\n"), "only known keys are nested"
    assert set_keys(card, {}, ["type"]) == card.replace(b"  type: user  # kind\n", b"")


def test_keys_under_metadata_in_brackets_are_changed_there() -> None:
    card = b"---\nmetadata: {type: user, node: y}  # both\n---\n"
    assert set_keys(card, {"type": "project"}) == b"---\nmetadata: {type: project, node: y}  # both\n---\n"
    assert set_keys(card, {}, ["type"]) == b"---\nmetadata: {node: y}  # both\n---\n"


def test_the_flat_key_wins_over_the_nested_one() -> None:
    card = b"---\ntype: a\nmetadata:\n  type: b\n---\n"
    assert set_keys(card, {"type": "c"}) == b"---\ntype: c\nmetadata:\n  type: b\n---\n"
    assert _meta(set_keys(card, {}, ["type"])) == {"metadata": None}


def test_of_a_key_that_stands_twice_the_last_is_set_and_both_are_unset() -> None:
    card = b"---\ntitle: a\ntype: x\ntitle: b\n---\n"
    assert set_keys(card, {"title": "c"}) == b"---\ntitle: a\ntype: x\ntitle: c\n---\n"
    assert set_keys(card, {}, ["title"]) == b"---\ntype: x\n---\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"tags: [a, b] # flow\n", b"tags: [a, b, c] # flow\n"),
        (b"tags: a, b\n", b"tags: a, b, c\n"),
        (b"tags:\n- a\n- b\n", b"tags:\n- a\n- b\n- c\n"),
        (b"tags:\n    - a\n    - b\n", b"tags:\n    - a\n    - b\n    - c\n"),
    ],
)
def test_the_style_of_a_list_is_kept(before: bytes, after: bytes) -> None:
    card = b"---\n" + before + b"z: 1\n---\n"
    edited = set_keys(card, {"tags": ["a", "b", "c"]})
    assert edited == card.replace(before, after)
    assert set_keys(edited, {"tags": ["a", "b", "c"]}) == edited


@pytest.mark.parametrize(
    "card",
    [
        b"---\ntitle: x\ntext without closing fence\n",
        b"---\ntitle: a: b\n---\nbody\n",
        b"---\n- a\n---\nbody\n",
        b"---\nhello\n---\nbody\n",
        b"---\n{title: x}\n---\nbody\n",
        b"---\nb: &a x\nc: *a\nd: 1\n---\n",
        codecs.BOM_UTF16_LE + "---\ntitle: x\n---\n".encode("utf-16-le"),
        b"---\ntitle: caf\xe9\n---\nbody\n",
        b"---\ntitle: x\n---\nbody\x00\n",
    ],
)
def test_what_cannot_be_edited_without_harm_is_refused(card: bytes) -> None:
    with pytest.raises(CardError) as caught:
        set_keys(card, {"b": "new"})
    assert caught.value.hint


def test_the_refusal_of_broken_yaml_names_reason_and_line() -> None:
    with pytest.raises(CardError, match="mapping values are not allowed") as caught:
        set_keys(b"---\ntype: x\ntitle: a: b\n---\nbody\n", {"tags": ["a"]})
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "text", ["2026-05-26", "yes", "007", "1.10", "null", "~", "- a", "# x", "a: b", " x ", "[a]", "é\u2028"]
)
def test_text_stays_text(text: str) -> None:
    edited = set_keys(b"---\na: 1\n---\n", {"title": text})
    assert _meta(edited)["title"] == text
    import yaml

    assert yaml.safe_load(edited.decode().split("---\n")[1])["title"] == text, "for other programs too"


_words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), max_size=12)
_scalars = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _words
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3), max_leaves=5
)
_keys = st.sampled_from(["title", "tags", "type", "new", "created", "metadata", "custom", "note", "ключ"])
_newlines = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(change=st.dictionaries(_keys, _values, max_size=4), newline=_newlines, bom=st.booleans())
@example(change={"title": "\ufeffx"}, newline=b"\n", bom=False)
@example(change={"title": "\x85"}, newline=b"\n", bom=False)
def test_what_is_set_is_read_back_and_a_second_run_changes_nothing(
    change: dict[str, JsonValue], newline: bytes, bom: bool
) -> None:
    card = (codecs.BOM_UTF8 if bom else b"") + CARD.replace(b"\n", newline)
    try:
        edited = set_keys(card, change)
    except CardError:
        return  # refused: the caller's bytes are as they were
    before, after = _meta(card), _meta(edited)
    assert {key: after.get(key) for key in before if key not in change} == {
        key: value for key, value in before.items() if key not in change
    }
    body = b"\n---\n\n# Heading".replace(b"\n", newline)
    assert edited[edited.index(body) :] == card[card.index(body) :]
    assert set_keys(edited, change) == edited
    assert set_keys(set_keys(edited, {}, change), {}, change) == set_keys(edited, {}, change)


@given(block=st.lists(st.sampled_from([*CARD.split(b"\n")[1:16], b"  - deep: x", b"a:", b"'q': 1", b"b: >-", b"  t"])))
def test_any_block_is_edited_right_or_refused(block: list[bytes]) -> None:
    card = b"---\n" + b"".join(line + b"\n" for line in block) + b"---\nbody\n"
    try:
        edited = set_keys(card, {"type": "user"}, ["custom"])
    except CardError:
        return
    before = {key: value for key, value in _meta(card).items() if key not in ("type", "custom")}
    assert {key: value for key, value in _meta(edited).items() if key != "type"} == before
    assert _meta(edited)["type"] == "user"
    assert edited.endswith(b"---\nbody\n")


@pytest.mark.parametrize(
    ("written", "items", "after"),
    [
        ("tags: [\"a\", 'b']  # keep", ["x", "b"], "tags: [\"x\", 'b']  # keep"),
        ("tags: [ \"a\" , 'b',c ]", ["a", "b", "x, y"], "tags: [ \"a\" , 'b','x, y' ]"),
        ('tags: ["a"] # keep', ["a", "b"], 'tags: ["a", b] # keep'),
        ("tags: [a, b]", ["b"], "tags: [b]"),
        (
            'tags:\n  - "a" # one\n  # between\n  - b   # two',
            ["x", "b"],
            'tags:\n  - "x" # one\n  # between\n  - b   # two',
        ),
        ("tags: [\n  a, # one\n  b   # two\n]", ["x", "b"], "tags: [\n  x, # one\n  b   # two\n]"),
        ('metadata:\n  tags: ["a", b] # k', ["a", "x"], 'metadata:\n  tags: ["a", x] # k'),
        ("tags: [&one a, *one]", ["x", "a"], "tags: [x, a]"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_items_of_a_list_are_exchanged_in_their_places(
    written: str, items: list[JsonValue], after: str, newline: str
) -> None:
    before, expected = (f"---\n{text}\nz: 1\n---\nbody\n".replace("\n", newline) for text in (written, after))
    assert set_keys(before.encode(), {"tags": items}).decode() == expected
