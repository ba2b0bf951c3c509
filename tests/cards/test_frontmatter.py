from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from cogvault.cards.frontmatter import MAX_DEPTH, MAX_FAULTS, State, as_text, parse, split
from cogvault.types import JsonValue


@pytest.mark.parametrize(
    "text", ["", "text", "----\na: 1\n----\n", "--- a: 1\n---\n", " ---\na: 1\n---\n", "\n---\na: 1\n---\n"]
)
def test_a_text_without_a_fence_on_its_first_line_is_all_body(text: str) -> None:
    cut = split(text)
    assert (cut.state, cut.body, cut.body_line) == (State.NONE, text, 1)


def test_block_and_body_are_cut_at_the_fences() -> None:
    cut = split("---\na: 1\nb: 2\n---\nbody\n---\nmore\n")
    assert (cut.state, cut.block, cut.body, cut.body_line) == (State.CLOSED, "a: 1\nb: 2\n", "body\n---\nmore\n", 5)


def test_closing_fence_may_be_the_last_bytes_of_the_file() -> None:
    cut = split("---\na: 1\n---")
    assert (cut.state, cut.block, cut.body, cut.body_line) == (State.CLOSED, "a: 1\n", "", 4)


def test_blanks_after_a_fence_are_no_part_of_it() -> None:
    assert split("--- \na: 1\n---\t\nbody").block == "a: 1\n"


def test_dashes_inside_a_value_close_nothing() -> None:
    cut = split("---\na: x---y\nb: |\n  ---\n  z\n---\nbody")
    assert parse(cut.block).values == {"a": "x---y", "b": "---\nz\n"}
    assert cut.body == "body"


def test_block_that_never_closes_leaves_the_whole_text_as_body() -> None:
    text = "---\ntitle: x\nand text"
    cut = split(text)
    assert (cut.state, cut.body, cut.body_line) == (State.UNTERMINATED, text, 1)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2026-05-26", "2026-05-26"),
        ("2026-05-26T10:00:00Z", "2026-05-26T10:00:00Z"),
        ("2026-13-45", "2026-13-45"),
        ("1.10", "1.10"),
        ("1.1", 1.1),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("-0", "-0"),
        ("-0.0", -0.0),
        ("42", 42),
        ("-7", -7),
        ("9" * 5000, "9" * 5000),
        ("yes", "yes"),
        ("No", "No"),
        ("True", "True"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("'true'", "true"),
        ('"12"', "12"),
        ("!!int '5'", "5"),
        ("!!python/object/apply:os.system [ls]", ["ls"]),
        ("[1, 2.50, x]", [1, "2.50", "x"]),
        ("{a: {b: no}}", {"a": {"b": "no"}}),
    ],
)
def test_a_scalar_changes_its_type_only_when_nothing_is_lost(written: str, value: JsonValue) -> None:
    found = parse(f"key: {written}\n").values["key"]
    assert found == value
    assert type(found) is type(value)


@given(st.from_regex(r"[-+]?[0-9._eExX]{1,20}", fullmatch=True))
@example("-0.0")
@example("1.0")
def test_a_number_turns_back_into_the_text_that_was_written(written: str) -> None:
    found = parse(f"key: {written}\n")
    if found.valid:
        assert as_text(found.values["key"]) == written


@pytest.mark.parametrize(
    ("block", "code", "line"),
    [
        ("a: 1\ntitle: Ops: night shift\n", "frontmatter-invalid", 3),
        ("a:\n\tb: 1\n", "frontmatter-invalid", 3),
        ("a: [1, 2\n", "frontmatter-invalid", 3),
        ("a: 1\nb: \x07\n", "frontmatter-invalid", 3),
        ("a: \ud800\n", "frontmatter-invalid", None),
        ("- a\n", "frontmatter-not-mapping", 1),
        ("hello\n", "frontmatter-not-mapping", 1),
        ("a: &a [*a]\n", "frontmatter-invalid", 2),
        ("a: *nobody\n", "frontmatter-invalid", 2),
        ("a: 1\n...\nb: 2\n", "frontmatter-invalid", 4),
    ],
)
def test_a_bad_block_gives_no_values_and_names_the_line(block: str, code: str, line: int | None) -> None:
    found = parse(block)
    assert not found.valid
    assert found.values == {}
    assert [(fault.code, fault.line) for fault in found.faults] == [(code, line)]


@pytest.mark.parametrize("block", ["", "\n\n", "# only a comment\n", "~\n"])
def test_an_empty_block_is_reported_and_can_still_be_edited(block: str) -> None:
    found = parse(block)
    assert found.valid
    assert [fault.code for fault in found.faults] == ["frontmatter-empty"]


def test_the_last_of_equal_keys_wins_and_is_reported() -> None:
    found = parse("a: 1\nb: 2\na: 3\n")
    assert dict(found.values) == {"b": 2, "a": 3}
    assert [(fault.code, fault.line, fault.key) for fault in found.faults] == [("frontmatter-duplicate-key", 4, "a")]
    assert found.lines == {"a": 4, "b": 3}


def test_a_key_that_is_no_text_costs_only_itself() -> None:
    found = parse("? [a, b]\n: c\nd: e\n")
    assert found.values == {"d": "e"}
    assert [(fault.code, fault.line) for fault in found.faults] == [("frontmatter-key", 2)]


def test_keys_are_text_as_they_are_written() -> None:
    assert list(parse("2026-05-26: a\ntrue: b\n1.10: c\n").values) == ["2026-05-26", "true", "1.10"]


def test_aliases_are_resolved() -> None:
    assert parse("a: &x [1, 2]\nb: *x\nc: &y text\nd: *y\n").values == {
        "a": [1, 2],
        "b": [1, 2],
        "c": "text",
        "d": "text",
    }


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    levels = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    levels += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    found = parse("\n".join(levels))
    assert [fault.code for fault in found.faults] == ["frontmatter-alias-bomb"]
    assert found.values == {}


def test_a_long_text_repeated_by_aliases_is_refused() -> None:
    block = f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 100)}]\n"
    assert [fault.code for fault in parse(block).faults] == ["frontmatter-alias-bomb"]


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ("{a: ", "}")])
def test_nesting_is_bounded(open_: str, close: str) -> None:
    def nested(depth: int) -> str:
        return f"a: {open_ * depth}{close * depth}\n"

    assert parse(nested(MAX_DEPTH - 1)).valid
    assert [fault.code for fault in parse(nested(MAX_DEPTH)).faults] == ["frontmatter-too-deep"]
    assert not parse(f"a: {open_ * 100_000}").valid


def test_without_libyaml_blocks_are_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [
        "a: 1.10\nb: [x, yes]\nc: 'true'\n",
        "a: 1\na: 2\n",
        "a: [1\n",
        "- a\n",
        "",
        f"a: {'[' * 10_000}",
        "a: \x00",
    ]
    native = [parse(block) for block in blocks]
    monkeypatch.setattr("cogvault.cards.frontmatter._Loader", yaml.SafeLoader)
    for block, expected in zip(blocks, native, strict=True):
        found = parse(block)
        assert (found.values, found.lines, found.valid) == (expected.values, expected.lines, expected.valid)


def test_faults_are_bounded() -> None:
    assert len(parse("a: 1\n" * 1000).faults) == MAX_FAULTS


_LINES = st.sampled_from(
    ["a: 1", "b: [x, y]", "  c: d", "- e", "&x f", "*x", "? g", ": h",
     "|", ">", "\t", "'", '"', "{", "}", "]", "#", "%",
     "---", "...", "!!set", "<<: *x", "\x85", "\u2028", "👩‍💻", "i: 2026-02-30"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(_LINES, max_size=12).map("\n".join)))
def test_no_block_raises_and_every_value_is_json(block: str) -> None:
    found = parse(block)
    assert json.loads(json.dumps(dict(found.values))) == dict(found.values)
    assert found.valid or found.faults


_SAFE = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=12)
_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=20)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_SAFE, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(_SAFE, _VALUES, min_size=1, max_size=6))
def test_a_block_written_as_json_is_read_as_it_was_meant(values: dict[str, JsonValue]) -> None:
    found = parse(json.dumps(values, ensure_ascii=False))
    assert dict(found.values) == values
