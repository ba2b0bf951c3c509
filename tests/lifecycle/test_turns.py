"""Turns are written readably, and come back exactly as they went in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.errors import CardError
from cogvault.indexing.chunking import TokenBudget, chunk_card
from cogvault.lifecycle.turns import checked_speaker, is_continued, read_turns, timestamp, write_turn
from cogvault.types import ChunkKind, JsonValue, Turn

AT = datetime(2024, 3, 15, 10, 30, 0, 123456, tzinfo=UTC)
NASTY = (
    "# a heading",
    "first\n\n## second\n\nthird",
    "para\n\nunder\n---\nmore",
    "**Bob**: I am no turn",
    "a\n\n**Bob** (2024-01-01): nor am I\n\nb",
    "```python\nprint(1)\n```",
    "open\n\n```\nnever closed",
    "~~~\n**Bob**: inside\n",
    "- item\n\n  **Bob**: nested\n- next",
    "> quoted\n> more",
    "\n> looks quoted",
    "  indented",
    "trailing  \n\n",
    "",
    "\n",
    "line\r\nnext\rlast",
    "nul \x00 and \x1b[31m escape \\ backslash \\u0041",
    "\ud800 lone surrogate",
    "<!-- escaped -->",
    'said\n<!-- {"a": 1} -->',
    'said\n<!-- escaped -->\n<!-- {"a": 1} -->',
    "---\ntitle: x\n---\nbody",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "\ufeffbom",
    "1. one\n2. two\n\n    code",
    "    code only\n    more",
    "\u2028 line separator \x85 next line",
)

texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(NASTY), min_size=1, max_size=3).map("\n".join),
    st.text(alphabet="ab*#`~->= \n\t|:()\\", max_size=40),
)
moments = st.datetimes(
    min_value=datetime(1000, 1, 2),
    max_value=datetime(9999, 12, 30),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-11))]),
)
speakers = st.text(min_size=1, max_size=80).filter(lambda name: _is_speaker(name)).map(checked_speaker)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
turns = st.builds(Turn, speakers, texts, moments, st.dictionaries(st.text(max_size=8), values, max_size=3))


def _is_speaker(name: str) -> bool:
    try:
        checked_speaker(name)
    except CardError:
        return False
    return True


@settings(max_examples=300)
@given(st.lists(turns, max_size=5))
def test_turns_of_any_text_come_back_exactly(said: list[Turn]) -> None:
    file = "---\ntitle: x\n---\n" + "".join(f"\n{write_turn(turn)}\n" for turn in said)
    assert read_turns(file.encode()) == said


@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_text_is_one_turn_for_the_index_too(text: str) -> None:
    file = "\n\n".join(write_turn(Turn(name, said, AT)) for name, said in (("Ana", text), ("Bob", "and then?")))
    card = MarkdownCardParser().parse(file.encode(), id="a.md", path="a.md")
    chunks = chunk_card(card, budget=TokenBudget(500, lambda found: [len(one) for one in found], len))[1:]
    assert [(chunk.kind, chunk.speaker, chunk.at) for chunk in chunks] == [
        (ChunkKind.TURN, "Ana", AT),
        (ChunkKind.TURN, "Bob", AT),
    ]


@pytest.mark.parametrize(
    "text", ["Plain words.", "Two\nlines", "Two\n\nparagraphs", "Code:\n\n```sh\nls # x\n```\n\nEnd"]
)
def test_ordinary_text_stands_in_the_file_as_it_is(text: str) -> None:
    assert write_turn(Turn("Ana", text, AT)) == f"**Ana** (2024-03-15T10:30:00.123456Z): {text}"


def test_a_heading_is_quoted_and_metadata_stand_below_the_text() -> None:
    turn = Turn("Ana", "Look:\n# Not a heading", AT, {"tool": "bash", "code": 0, "to": "->"})
    assert write_turn(turn).split("\n") == [
        "**Ana** (2024-03-15T10:30:00.123456Z):",
        "> Look:",
        "> # Not a heading",
        '<!-- {"tool": "bash", "code": 0, "to": "-\\u003e"} -->',
    ]


def test_turns_that_people_wrote_are_read() -> None:
    file = (
        "# Talk\n\n**Ana**: Hi.\n\n"
        "**Bob** （2024-03-15 10:31）： Hello.\n\nStill me.\n\n## Later\n\nNobody said this.\n"
    )
    assert read_turns(file) == [
        Turn("Ana", "Hi."),
        Turn("Bob", "Hello.\n\nStill me.", datetime(2024, 3, 15, 10, 31, tzinfo=UTC)),
    ]


@pytest.mark.parametrize("name", ["", "  ", "a*b", "x" * 81, "nul\0", "\ud800"])
def test_names_that_cannot_be_written_are_refused(name: str) -> None:
    with pytest.raises(CardError, match="cannot be a speaker's name"):
        checked_speaker(name)


def test_blanks_in_a_name_become_one() -> None:
    assert checked_speaker("  Ana\n Maria ") == "Ana Maria"


def test_metadata_must_be_json() -> None:
    with pytest.raises(CardError, match="no JSON"):
        write_turn(Turn("Ana", "x", AT, {"a": float("nan")}))


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2024, 3, 15, 10, 30), "2024-03-15T10:30:00Z"),
        (AT, "2024-03-15T10:30:00.123456Z"),
        (datetime(2024, 3, 15, 10, tzinfo=timezone(timedelta(hours=2))), "2024-03-15T10:00:00+02:00"),
        (datetime(1900, 1, 1, tzinfo=timezone(timedelta(seconds=61))), "1899-12-31T23:58:59Z"),
    ],
)
def test_times_keep_their_zone(at: datetime, text: str) -> None:
    assert timestamp(at) == text


@pytest.mark.parametrize(
    ("data", "is_good"),
    [
        (b"", True),
        (b"**A**: hi\n", True),
        (b"- list", True),
        (b"```\nopen", False),
        (b"**A**: cut \xc3", False),
        ("utf-16".encode("utf-16-le"), False),
    ],
)
def test_where_a_turn_may_be_appended(data: bytes, is_good: bool) -> None:
    assert is_continued(data) is is_good
