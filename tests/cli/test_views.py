"""What is drawn for people: pure pieces, and whole pages on a terminal that is not there."""

from __future__ import annotations

import doctest
import io
from datetime import UTC, datetime
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cogvault import CardText, Hit, Hits, SyncProgress, SyncReport
from cogvault.retrieval.hits import Part, Stage, Trace
from cogvault.types import Problem, Status
from cogvault_cli.output import printable
from cogvault_cli.views import card, highlight, marks, sync
from cogvault_cli.views.card import print_card, split_frontmatter
from cogvault_cli.views.highlight import spans
from cogvault_cli.views.hits import print_hits
from cogvault_cli.views.marks import bar, size
from cogvault_cli.views.sync import SHOWN_PROBLEMS, duration, pace, print_report, progress_bars


def terminal(width: int = 80, *, color: Literal["standard"] | None = "standard", encoding: str = "utf-8") -> Console:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace", write_through=True)
    return Console(
        file=stream, width=width, force_terminal=True, color_system=color, highlight=False, markup=False, emoji=False,
        _environ={},
    )  # fmt: skip


def written(console: Console) -> str:
    stream = console.file
    assert isinstance(stream, io.TextIOWrapper)
    stream.seek(0)
    return stream.read()


def hit(**values: Any) -> Hit:
    base: dict[str, Any] = {
        "id": "sub/a.md", "file": "sub/a.md", "uri": "cogvault://resources/sub/a.md", "title": "A title",
        "type": "project", "tags": ("one", "two"), "score": 0.5, "confidence": "high", "layer": "L2",
        "text": "Some queued text.", "snippet": "Some queued text.", "lines": (12, 14), "heading": (),
        "created": datetime(2026, 1, 20, tzinfo=UTC), "updated": None, "valid": "current", "matched": ("queue",),
    }  # fmt: skip
    return Hit(**{**base, **values})


def answer(*found: Hit, status: Status = Status.OK, **values: Any) -> Hits:
    trace = Trace("q", terms=("q",), rung="0.45", stages=(Stage("keyword", 3, 0.5),), notes=("cut short",))
    return Hits(found, status, trace, **values)


def test_place_of_a_hit_can_be_opened_by_an_editor() -> None:
    console = terminal(color=None)
    print_hits(console, answer(hit()), PurePosixPath("notes/memory"))
    assert "notes/memory/sub/a.md:12 · project · #one #two · 2026-01-20" in written(console)


@pytest.mark.parametrize("valid", ["superseded", "expired", "future"])
def test_hit_that_is_not_current_is_labelled(valid: str) -> None:
    console = terminal(color=None)
    print_hits(console, answer(hit(valid=valid)), None)
    assert valid in written(console).splitlines()[0]


def test_matched_words_stand_out_on_a_terminal() -> None:
    console = terminal()
    print_hits(console, answer(hit()), None)
    assert "\x1b[1;33mqueued\x1b[0m" in written(console)


@pytest.mark.parametrize("text", ["支付平台要求在三秒之内应答，否则视为失败。" * 6, "слово " * 60, "🦊 лис " * 40])
@pytest.mark.parametrize("width", [40, 80])
def test_no_line_of_text_is_wider_than_the_terminal(text: str, width: int) -> None:
    console = terminal(width, color=None)
    print_hits(console, answer(hit(snippet=text, file="a.md", tags=())), None)
    lines = written(console).splitlines()
    assert len(lines) > 4
    assert [line for line in lines[1:] if cell_len(line) > width] == []


def test_terminal_without_unicode_gets_plain_signs() -> None:
    console = terminal(color=None, encoding="ascii")
    print_hits(console, answer(hit(tags=()), status=Status.DEGRADED, reason="no model", hint="install one"), None)
    head = written(console).splitlines()[0]
    assert head.isascii()
    assert "####" in head


def test_status_that_is_not_ok_comes_with_reason_and_hint() -> None:
    console = terminal(color=None)
    print_hits(console, answer(hit(), status=Status.DEGRADED, reason="no model", hint="install one"), None)
    assert written(console).splitlines()[-1] == "degraded: no model (install one)"


def test_bars_of_parts_stand_below_each_other() -> None:
    parts = (
        Part("L2", "keyword", 0.5, 0.4),
        Part("bonus", "title", 1.0, 0.2),
        Part("factor", "age and validity", 0.8, -0.1),
    )
    console = terminal(color=None)
    print_hits(console, answer(hit(parts=parts)), None, explain=True)
    rows = [line for line in written(console).splitlines() if "+0." in line or "-0." in line]
    assert len({line.index("█") for line in rows}) == 1
    assert "cut short" in written(console)


def test_bars_of_all_hits_stand_in_the_same_columns_and_share_a_scale() -> None:
    reranked = (Part("L2", "keyword", 0.5, 0.4), Part("order", "rerank", 0.5, 0.0))
    outdated = (Part("L2", "keyword", 0.5, 0.2), Part("factor", "age and validity", 0.5, -0.1))
    console = terminal(color=None)
    print_hits(console, answer(hit(parts=reranked), hit(parts=outdated)), None, explain=True)
    rows = [line for line in written(console).splitlines() if "+0." in line or "-0." in line]
    assert len(rows) == 4
    assert len({line.index("█") for line in rows}) == 1
    assert [line.count("█") for line in rows] == [24, 12, 12, 6]


def test_parts_of_near_misses_are_shown_too() -> None:
    console = terminal(color=None)
    missed = hit(title="Nearly", parts=(Part("L2", "keyword", 0.1, 0.1),))
    print_hits(console, answer(status=Status.EMPTY, reason="nothing", near_misses=(missed,)), None, explain=True)
    assert "+0.100" in written(console)


def test_near_misses_are_shown_when_asked_for() -> None:
    empty = answer(status=Status.EMPTY, reason="nothing", near_misses=(hit(title="Nearly"),))
    for explain in (False, True):
        console = terminal(color=None)
        print_hits(console, empty, None, explain=explain)
        assert ("Nearly" in written(console)) is explain


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_spans_lie_in_the_text_and_begin_with_a_matched_word(text: str, matched: list[str]) -> None:
    for start, end in spans(text, matched):
        assert 0 <= start < end <= len(text)
        assert any(text[start:end].lower().startswith(word[:5].lower()) for word in matched if word)


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Databases and a database", "databases", ["Databases", "database"]),
        ("unrelated updates", "date", []),
        ("Копіювати без копіювання", "копіювання", ["Копіювати", "копіювання"]),
        ("支付回调丢失", "回调", ["回调"]),
        ("POL-358 and pol-3", "pol-358", ["POL-358"]),
        ("हिन्दी में", "हिन्दी", ["हिन्दी"]),
    ],
)
def test_spans(text: str, word: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text, [word])] == expected


@given(st.floats(-1, 2), st.integers(1, 40), st.booleans())
def test_bar_has_its_width(share: float, width: int, ascii_only: bool) -> None:
    drawn = bar(share, width, ascii_only=ascii_only)
    assert len(drawn) == width
    assert drawn.isascii() or not ascii_only


@given(st.text())
def test_printable_text_holds_no_control_characters(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not any(character < " " and character not in "\n\t" for character in shown)
    assert not any("\x7f" <= character < "\xa0" for character in shown)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (2_340_000, "2.3 MB"), (150e9, "150 GB")]
)
def test_size(count: int, text: str) -> None:
    assert size(int(count)) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (12.4, "12 s"), (75, "1:15 min"), (7300, "2:01 h")])
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_pace_tells_speed_and_time_left() -> None:
    assert pace(SyncProgress("vectors", done=50, total=150, seconds=2.0)) == "25 chunks/s, 4.0 s left"
    assert pace(SyncProgress("keyword", done=10, total=10, seconds=2.0)) == "5 cards/s"
    assert pace(SyncProgress("keyword", done=0, total=10, seconds=0.0)) == ""
    assert pace(SyncProgress("vectors", done=0, total=10, seconds=0.5)) == "loading the model"


def test_progress_draws_one_bar_a_stage_and_clears_them() -> None:
    console = terminal()
    with progress_bars(console) as show:
        assert show is not None
        show(SyncProgress("keyword", 10, 10, 1.0))
        show(SyncProgress("vectors", 5, 20, 1.0))
    assert "keyword" in written(console)
    assert "5 chunks/s" in written(console)
    assert written(console).endswith("\x1b[2K")


def test_progress_is_not_drawn_where_nobody_sees_it() -> None:
    console = Console(file=io.StringIO())
    with progress_bars(console) as show:
        assert show is None
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_report_tells_of_a_language_model_only_where_there_is_one() -> None:
    pages = []
    for report in (SyncReport(), SyncReport(summarized=3, pending_summaries=1200)):
        console = terminal(color=None)
        print_report(console, report, "notes")
        pages.append(written(console))
    assert "summaries" not in pages[0]
    assert "  summaries  3  1,200 cards wait for the model" in pages[1]


def test_report_names_failed_files_and_counts_the_rest() -> None:
    failed = tuple(
        Problem(f"{n}.md", "unreadable", "cannot be read", line=n or None) for n in range(SHOWN_PROBLEMS + 3)
    )
    console = terminal(color=None)
    print_report(console, SyncReport(status=Status.DEGRADED, reason="some failed", failed=failed), "notes")
    text = written(console)
    assert "0.md  cannot be read" in text
    assert "1.md:1  cannot be read" in text
    assert "and 3 more" in text
    assert "degraded: some failed" in text


def test_card_is_rendered_on_a_terminal() -> None:
    console = terminal()
    print_card(console, CardText("a.md", "---\nname: a\n---\n\n# Head\n\nSome **bold** text.\n", (1, 7), 7))
    text = Text.from_ansi(written(console)).plain
    assert "name: a" in text
    assert "Some bold text." in text
    assert "**" not in text


def test_part_of_a_card_is_shown_as_it_stands() -> None:
    console = terminal(color=None)
    print_card(console, CardText("a.md", "Some **bold** text.\n", (7, 7), 9))
    assert "lines 7-7 of 9" in written(console)
    assert "Some **bold** text." in written(console)


@given(st.text())
def test_split_frontmatter_loses_nothing_but_fences(text: str) -> None:
    head, body = split_frontmatter(text)
    assert text.endswith(body)
    assert head in text


@pytest.mark.parametrize("module", [card, highlight, marks, sync])
def test_examples_in_docstrings_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
