from __future__ import annotations

import codecs
import dataclasses
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.types import Card

PARSER = MarkdownCardParser()


def parse(text: str | bytes, id: str = "notes/file-stem.md") -> Card:
    data = text.encode() if isinstance(text, str) else text
    return PARSER.parse(data, id=id, path=id)


def codes(card: Card) -> list[str]:
    return [problem.code for problem in card.problems]


CARD = """---
name: user-auth
title: "Sign-in: how it works"
description: >
  Tokens rotate
  every hour.
type: project
tags: [auth, "#Security", auth]
aliases:
  - login
  - Anmeldung
created: 2026-05-26
updated: 2026-05-27T12:00:00+02:00
importance: 0.7
pinned: true
source: https://example.org/a
supersedes: "[[old-auth|the old one]]"
valid_until: 2027-01-01
team: core
---
# Heading

Body.
"""


def test_known_keys_are_read() -> None:
    card = parse(CARD)
    assert (card.name, card.title, card.description) == (
        "user-auth",
        "Sign-in: how it works",
        "Tokens rotate every hour.",
    )
    assert (card.type, card.tags, card.aliases) == ("project", ("auth", "Security"), ("login", "Anmeldung"))
    assert card.created == datetime(2026, 5, 26, tzinfo=UTC)
    assert card.updated == card.dated == datetime(2026, 5, 27, 10, tzinfo=UTC)
    assert card.valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert (card.importance, card.pinned, card.source) == (0.7, True, "https://example.org/a")
    assert (card.supersedes, card.superseded_by) == (("old-auth",), ())
    assert card.meta["team"] == "core"
    assert card.meta["created"] == "2026-05-26"
    assert (card.body, card.body_line) == ("# Heading\n\nBody.\n", 21)
    assert card.problems == ()
    assert card.writable


def test_known_keys_may_be_nested_and_flat_ones_win() -> None:
    card = parse("---\ntype: user\nmetadata:\n  type: project\n  tags: a, b\n  created: 2026-01-02\n---\n")
    assert (card.type, card.tags, card.created) == ("user", ("a", "b"), datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[alpha, beta]", ("alpha", "beta")),
        ("alpha, beta", ("alpha", "beta")),
        ("tool", ("tool",)),
        ("'#one #two'", ("one", "two")),
        ("two words", ("two words",)),
        ("[2024, 1.10, true, null, yes]", ("2024", "1.10", "true", "yes")),
        ("\n  - a\n  - {b: c}\n  - d", ("a", "d")),
        ("", ()),
        ("[A, a, 'Ａ']", ("A",)),
    ],
)
def test_tags_are_words_however_they_are_written(written: str, tags: tuple[str, ...]) -> None:
    assert parse(f"---\ntags: {written}\n---\n").tags == tags


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 2026-05-26\n---\n", "2026-05-26"),
        ("---\ntitle: 1.10\nname: n\n---\n", "1.10"),
        ("---\nname: the-name\n---\n# H\n", "the-name"),
        ("```\n# not this\n```\n\n# The **real** [[x|one]] ##\n", "The real one"),
        ("Setext\n===\n", "Setext"),
        ("    # code\n\ntext", "file-stem"),
        ("> # quoted\n", "file-stem"),
        ("", "file-stem"),
        ("---\ntitle: [a, b]\n---\n", "file-stem"),
    ],
)
def test_title_is_title_then_name_then_heading_then_file_stem(text: str, title: str) -> None:
    assert parse(text).title == title


def test_title_of_a_file_whose_name_cannot_be_decoded_can_be_printed() -> None:
    assert parse("", id="caf\udce9.md").title == "caf\ufffd"


def test_crlf_and_bom_change_nothing_but_themselves() -> None:
    plain = parse(CARD)
    assert parse(codecs.BOM_UTF8 + CARD.replace("\n", "\r\n").encode()) == plain
    assert parse(CARD.replace("\n", "\r").encode()) == plain


@pytest.mark.parametrize(("mark", "name"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
def test_utf16_with_its_mark_is_read(mark: bytes, name: str) -> None:
    assert parse(mark + CARD.encode(name)) == parse(CARD)


def test_utf16_that_is_cut_short_is_flagged() -> None:
    card = parse(codecs.BOM_UTF16_LE + "Wörter".encode("utf-16-le") + b"\x00")
    assert card.body.startswith("Wörter")
    assert (codes(card), card.writable) == (["encoding-invalid"], False)


def test_legacy_bytes_stay_searchable_and_are_flagged() -> None:
    card = parse("---\ntitle: Café\n---\nline\nnaïve “quotes” café\n".encode("cp1252"))
    assert (card.title, card.body) == ("Café", "line\nnaïve “quotes” café\n")
    assert (card.problems[0].code, card.problems[0].line, card.writable) == ("encoding-invalid", 2, False)


def test_one_legacy_byte_does_not_spoil_the_utf8_around_it() -> None:
    assert parse("Привіт світ ".encode() + b"\xf3" + " 你好".encode()).body == "Привіт світ ó 你好"


def test_text_in_another_legacy_alphabet_is_no_mojibake() -> None:
    card = parse("Решение по API принято".encode("cp1251"))
    assert "API" in card.body
    assert set(card.body) <= set("API \ufffd")
    assert codes(card) == ["encoding-invalid"]


def test_a_file_cut_inside_a_character_loses_that_character_only() -> None:
    card = parse("Привіт".encode()[:-1])
    assert (card.body, codes(card)) == ("Приві", ["encoding-invalid"])


@pytest.mark.parametrize("data", [b"text\x00more", "без мітки".encode("utf-16-le"), codecs.BOM_UTF16_LE + b"\x00\x00"])
def test_a_binary_file_is_reported_and_has_no_text(data: bytes) -> None:
    card = parse(data)
    assert (card.body, card.title, codes(card), card.writable) == ("", "file-stem", ["binary"], False)


def test_unterminated_block_is_body_and_flagged() -> None:
    text = "---\ntitle: x\n\nall of it\n"
    card = parse(text)
    assert (card.body, card.title, card.body_line) == (text, "file-stem", 1)
    assert (codes(card), card.problems[0].line, card.writable) == (["frontmatter-unterminated"], 1, False)


def test_bad_block_keeps_the_body_and_names_file_and_line() -> None:
    card = parse("---\nid: 1\ntitle: Ops: night shift\n---\nThe rota.\n")
    assert (card.body, card.title, card.meta, card.writable) == ("The rota.\n", "file-stem", {}, False)
    problem = card.problems[0]
    assert (problem.path, problem.code, problem.line) == ("notes/file-stem.md", "frontmatter-invalid", 3)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("title: {a: b}", "title"),
        ("created: 2026-02-30", "created"),
        ("date: soon", "date"),
        ("importance: high", "importance"),
        ("importance: .nan", "importance"),
        ("importance: 7", "importance"),
        ("pinned: maybe", "pinned"),
        ("tags: [{a: b}]", "tags"),
        ("aliases: {a: b}", "aliases"),
    ],
)
def test_one_bad_value_costs_only_itself(written: str, key: str) -> None:
    card = parse(f"---\nname: kept\n{written}\ntype: project\n---\nbody")
    assert (card.name, card.type, card.body) == ("kept", "project", "body")
    assert [(problem.key, problem.line) for problem in card.problems] == [(key, 3)]
    assert card.writable


@pytest.mark.parametrize(
    ("written", "value"), [("7", 1.0), ("-1", 0.0), ("0", 0.0), ("1", 1.0), ("0.50", 0.5), (".5", 0.5)]
)
def test_importance_is_held_between_0_and_1(written: str, value: float) -> None:
    assert parse(f"---\nimportance: {written}\n---\n").importance == value


@pytest.mark.parametrize(
    ("written", "value"), [("true", True), ("yes", True), ("'on'", True), ("1", True), ("no", False), ("", False)]
)
def test_pinned_takes_the_usual_words(written: str, value: bool) -> None:
    card = parse(f"---\npinned: {written}\n---\n")
    assert (card.pinned, card.problems) == (value, ())


@pytest.mark.parametrize(
    ("written", "ids"),
    [("[[old]]", ("old",)), ("'[[a]]'", ("a",)), ("a.md, b", ("a.md", "b")), ("['[[a|x]]', '[[b#h]]']", ("a", "b"))],
)
def test_superseded_cards_are_named_with_or_without_brackets(written: str, ids: tuple[str, ...]) -> None:
    assert parse(f"---\nsupersedes: {written}\n---\n").supersedes == ids


def test_dated_is_date_then_updated_then_created() -> None:
    def dated(keys: str) -> datetime | None:
        return parse(f"---\n{keys}\n---\n").dated

    assert dated("created: 2024-01-01\nupdated: 2025-01-01\ndate: 2023-01-01") == datetime(2023, 1, 1, tzinfo=UTC)
    assert dated("created: 2024-01-01\nupdated: 2025-01-01") == datetime(2025, 1, 1, tzinfo=UTC)
    assert dated("created: 2024-01-01") == datetime(2024, 1, 1, tzinfo=UTC)
    assert dated("a: b") is None


def test_frontmatter_can_be_left_in_the_body() -> None:
    raw = MarkdownCardParser(strip_frontmatter=False)
    card = raw.parse(CARD.encode(), id="a.md", path="a.md")
    assert (card.body, card.body_line) == (CARD, 1)
    assert dataclasses.replace(card, body="", body_line=0) == dataclasses.replace(
        PARSER.parse(CARD.encode(), id="a.md", path="a.md"), body="", body_line=0
    )
    assert raw.version != PARSER.version


def test_links_carry_the_line_of_the_file() -> None:
    card = parse("---\na: 1\n---\ntext\n[[target]]\n")
    assert [(link.target, link.line) for link in card.links] == [("target", 5)]


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: f"---\n{text}\n---\n{text}".encode())))
def test_no_bytes_raise_and_all_text_can_be_stored(data: bytes) -> None:
    card = parse(data)
    assert card.title
    for text in (card.title, card.body, card.description, *card.tags, *card.aliases):
        text.encode()
        assert "\x00" not in text
    assert "\r" not in card.body
