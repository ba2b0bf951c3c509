from __future__ import annotations

from hypothesis import given

from cogvault.layers.passages import PASSAGE_CHARS, Heading, read
from tests.layers.support import hostile


def texts(body: str) -> list[str]:
    return [passage.text for passage in read(body).passages]


def test_lines_of_a_paragraph_become_one() -> None:
    assert texts("one\ntwo\n\nthree") == ["one two", "three"]


def test_lines_of_han_join_without_a_blank() -> None:
    assert texts("数据库\n结构") == ["数据库结构"]


def test_korean_lines_join_with_a_blank() -> None:
    assert texts("데이터\n구조") == ["데이터 구조"]


def test_code_is_no_prose() -> None:
    body = "before\n\n```python\nx = 1\n\n# not a heading\n```\n\n~~~\ny\n~~~\n\n    indented\n\nafter"
    assert texts(body) == ["before", "after"]
    assert read(body).headings == ()


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert texts("````\n```\ncode\n```\n````\nafter") == ["after"]


def test_inline_code_at_the_start_of_a_line_is_no_fence() -> None:
    assert texts("```a``` is a word\n\nnext") == ["```a``` is a word", "next"]


def test_a_paragraph_inside_a_list_item_is_no_code() -> None:
    assert texts("- item\n\n    more of it") == ["item", "more of it"]


def test_headings_count_sections() -> None:
    reading = read("# One #\n\na\n\n## Two\n\nb\n\nThree\n---\n\nc")
    assert reading.headings == (Heading(1, "One"), Heading(2, "Two"), Heading(2, "Three"))
    assert [(passage.text, passage.section) for passage in reading.passages] == [("a", 1), ("b", 2), ("c", 3)]


def test_items_and_quotes_lose_their_marks() -> None:
    assert texts("- one\n* two\n3. three\n- [x] done\n\n> quoted\n> text") == [
        "one",
        "two",
        "three",
        "done",
        "quoted text",
    ]


def test_bold_marks_fall_away_but_not_in_code() -> None:
    assert texts("**Status.** Uses `**kwargs`.") == ["Status. Uses `**kwargs`."]


def test_open_tasks_are_found_and_done_ones_are_not() -> None:
    reading = read(
        "- [ ] write it\n- [x] read it\n\nTODO: test it\n\nSome text. FIXME(ana) mend it\n\n```\nTODO: no\n```"
    )
    assert reading.todos == ("write it", "test it", "mend it")


def test_table_rows_are_marked_and_rules_dropped() -> None:
    reading = read("| host | ip |\n|---|---|\n| db-1 | 10.0.0.1 |")
    assert [(passage.text, passage.row) for passage in reading.passages] == [
        ("host | ip", True),
        ("db-1 | 10.0.0.1", True),
    ]


def test_turns_know_speaker_and_time_until_the_next_heading() -> None:
    body = "**Ana** (2024-03-15T10:30:00Z): Hello.\n\nMore.\n\n**Wei**（2024-03-16）：你好。\n\n# Notes\n\nEnd."
    found = [(one.text, one.speaker, one.at, one.opens) for one in read(body).passages]
    assert found == [
        ("Hello.", "Ana", "2024-03-15T10:30:00Z", True),
        ("More.", "Ana", "2024-03-15T10:30:00Z", False),
        ("你好。", "Wei", "2024-03-16", True),
        ("End.", "", "", False),
    ]


def test_a_passage_without_end_is_cut_into_pieces_and_nothing_is_lost() -> None:
    body = "word " * 4000
    found = texts(body)
    assert max(map(len, found)) <= PASSAGE_CHARS + 40
    assert min(map(len, found)) > PASSAGE_CHARS / 2
    assert " ".join(found).split() == body.split()


@given(hostile)
def test_any_text_can_be_read(body: str) -> None:
    reading = read(body)
    assert all(passage.text and passage.text == passage.text.strip() for passage in reading.passages)
    assert all("\n" not in passage.text for passage in reading.passages)
