from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cogvault.cards import scan_markdown
from cogvault.cards.scan_markdown import CODE_KINDS, MAX_CONTAINERS, MAX_HEADING_CHARS, Block, BlockKind, scan

# Every construct that starts, continues or ends a block.
_ATOMS = [
    "text", "- item", "  - sub", "* x", "1. one", "2. two", "10) t", "> quote", "> > deep", ">     code",
    "    indented", "  two spaces", "      six", "```", "~~~", "  ```", "```py", "````", "> ```", "- ```",
    "# H", "## H2", "---", "===", "***", "", "", "\tTab", "-", "- ", "  text", "   text", ">", "a | b",
    "--|--", "+     code", "-\tt", " - one", "> - li", "  > q", "``` a`b", "#no", "#", "####### 7",
]  # fmt: skip
_REFERENCE = MarkdownIt("commonmark").enable("table")


@settings(max_examples=400)
@given(st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=9))
def test_code_and_headings_are_where_commonmark_has_them(lines: list[str]) -> None:
    code: set[int] = set()
    headings: list[tuple[int, int]] = []
    for token in _REFERENCE.parse("\n".join(lines)):
        if token.type in ("fence", "code_block") and token.map:
            code.update(range(*token.map))
        if token.type == "heading_open" and token.level == 0 and token.map:
            headings.append((token.map[0], int(token.tag[1])))
    blocks = scan(lines)
    ours = {index for block in blocks if block.kind in CODE_KINDS for index in range(block.start, block.end)}
    # A line that is blank inside its containers belongs to the code or not; nobody can see the difference.
    visible = {index for index, line in enumerate(lines) if line.strip(" \t>")}
    assert ours & visible == code & visible
    assert [(block.start, block.level) for block in blocks if block.kind is BlockKind.HEADING] == headings


@given(
    st.lists(st.one_of(st.sampled_from([*_ATOMS, "**A**: x", "**B** (2024): y"]), st.text(max_size=12)), max_size=12)
)
def test_every_line_that_is_not_blank_is_in_exactly_one_block(lines: list[str]) -> None:
    lines = [line.replace("\n", " ") for line in lines]
    covered = [index for block in scan(lines) for index in range(block.start, block.end)]
    assert covered == sorted(set(covered))
    assert {index for index, line in enumerate(lines) if line.strip()} <= set(covered)


def kinds(text: str) -> list[BlockKind]:
    return [block.kind for block in scan(text.split("\n"))]


def only(text: str) -> Block:
    (block,) = scan(text.split("\n"))
    return block


def test_blocks_of_one_list_share_a_group() -> None:
    blocks = scan(["- a", "", "  b", "- c", "  ```", "  d", "  ```", "", "text", "", "1. other"])
    assert [block.group for block in blocks] == [1, 1, 1, 1, 2, 3]


def test_a_table_starts_with_the_line_above_its_rule() -> None:
    blocks = scan(["intro", "a | b", "--|--", "1 | 2", "", "text"])
    assert [(block.kind, block.start, block.end) for block in blocks] == [
        (BlockKind.PARAGRAPH, 0, 1),
        (BlockKind.TABLE, 1, 4),
        (BlockKind.PARAGRAPH, 5, 6),
    ]


def test_a_turn_has_speaker_time_and_where_its_words_begin() -> None:
    line = "**Ana  B** (2024-03-15T10:30:00Z): hello"
    block = only(line)
    assert (block.kind, block.text, block.at) == (BlockKind.TURN, "Ana B", "2024-03-15T10:30:00Z")
    assert line[block.offset :] == "hello"


def test_a_turn_may_use_full_width_marks_and_needs_no_time() -> None:
    assert (only("**安娜**（2024-03-15）：你好").text, only("**安娜**：你好").at) == ("安娜", "")
    assert only("**安娜**（2024-03-15）：你好").at == "2024-03-15"


def test_turns_follow_each_other_without_a_blank_line() -> None:
    assert kinds("**A**: one\nmore\n**B**: two") == [BlockKind.TURN, BlockKind.TURN]


def test_bold_text_without_a_colon_or_inside_a_paragraph_or_list_is_no_turn() -> None:
    assert kinds("**bold** text") == [BlockKind.PARAGRAPH]
    assert kinds("text\n**Note**: x") == [BlockKind.PARAGRAPH]
    assert kinds("- **Key**: value") == [BlockKind.PARAGRAPH]
    assert kinds("    **A**: code") == [BlockKind.CODE]


def test_a_long_heading_is_cut_and_keeps_its_line() -> None:
    block = only("# " + "x" * 10_000)
    assert (block.kind, len(block.text)) == (BlockKind.HEADING, MAX_HEADING_CHARS)


def test_containers_are_bounded() -> None:
    lines = [">" * 100_000, "- " * 100_000 + "x", *("  " * depth + "- x" for depth in range(3 * MAX_CONTAINERS))]
    assert sum(block.end - block.start for block in scan(lines)) == len(lines)


def test_a_short_text_is_scanned_once_for_parser_and_chunker_and_no_long_one_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scanned: list[int] = []

    def counting(lines: Sequence[str]) -> list[Block]:
        scanned.append(len(lines))
        return scan(lines)

    monkeypatch.setattr(scan_markdown, "scan", counting)
    for lines in (300, 30_000):
        body = "\n".join(["# H", *(f"- {number}" for number in range(lines))])
        assert scan_markdown.blocks_of(body) == scan_markdown.blocks_of(body) == tuple(scan(body.split("\n")))
    assert scanned == [301, 30_001, 30_001]
