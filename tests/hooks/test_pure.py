"""Events and transcripts, without a process."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault_cli.hooks.event import Event, answer, parse, vault_folder
from cogvault_cli.hooks.transcript import MAX_CHARS, said
from tests.hooks.conftest import line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def texts(*lines: object) -> list[str]:
    return [turn.text for turn in said(json.dumps(one).encode() for one in lines)]


def test_event_takes_what_it_needs_and_ignores_the_rest() -> None:
    data = b'{"session_id": "s", "prompt": "why?", "cwd": 5, "new_field": {"a": []}}'
    assert parse("prompt", data) == Event("prompt", "s", prompt="why?")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"session_id": 1}', b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse("prompt", data)


@given(JSON)
def test_any_json_is_an_event_or_refused(document: object) -> None:
    with contextlib.suppress(ValueError):
        assert parse("prompt", json.dumps(document).encode()).session


@given(st.text())
def test_answer_is_one_line_of_ascii_that_gives_the_text_again(text: str) -> None:
    printed = answer("prompt", text, text[::-1])
    assert printed.isascii()
    assert "\n" not in printed
    document = json.loads(printed)
    assert document.get("hookSpecificOutput", {}).get("additionalContext", "") == text
    assert document.get("systemMessage", "") == text[::-1]


def test_vault_is_the_named_one_relative_to_the_project() -> None:
    event = Event("prompt", "s", folder="/projects/shop")
    assert vault_folder(event, {}) is None
    assert vault_folder(event, {"COGVAULT_TENANT": "  "}) is None
    assert vault_folder(event, {"COGVAULT_TENANT": "/memory"}) == Path("/memory")
    assert vault_folder(event, {"COGVAULT_TENANT": "notes"}) == Path("/projects/shop/notes")
    inside = {"COGVAULT_TENANT": "notes", "CLAUDE_PROJECT_DIR": "/projects"}
    assert vault_folder(event, inside) == Path("/projects/notes")


def test_text_of_user_and_agent_is_said_and_nothing_else() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Done."},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
    ]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt"}]
    assert texts(
        {"type": "summary", "summary": "A title", "leafUuid": "x"},
        line("user", "1", "Fix the **build**\n\nplease"),
        line("assistant", "2", blocks),
        line("user", "3", result),
        line("user", "4", "Caveat: …", isMeta=True),
        line("assistant", "5", "from a subagent", isSidechain=True),
        line("user", "6", "This session is being continued", isCompactSummary=True),
        line("user", "7", "<command-name>/clear</command-name>"),
        {"type": "file-history-snapshot", "messageId": "m"},
    ) == ["Fix the **build**\n\nplease", "Done."]


def test_turns_have_speaker_time_and_anchor() -> None:
    turn = next(said([json.dumps(line("assistant", "a-1", "Yes.")).encode()]))
    assert (turn.speaker, turn.meta) == ("Claude", {"uuid": "a-1"})
    assert turn.at is not None
    assert turn.at.isoformat() == "2026-08-10T12:00:05.123000+00:00"


def test_a_text_of_any_length_is_kept_in_parts_with_anchors_of_their_own() -> None:
    text = "x" * MAX_CHARS + "y"
    turns = list(said([json.dumps(line("user", "1", text)).encode()]))
    assert "".join(turn.text for turn in turns) == text
    assert [turn.meta["uuid"] for turn in turns] == ["1", "1#2"]


@given(st.lists(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40), max_size=5))
def test_lines_that_are_anything_else_say_nothing(lines: list[bytes]) -> None:
    assert list(said(lines)) == []


@given(JSON, st.sampled_from(["user", "assistant"]))
def test_a_message_of_any_shape_is_read_or_left_out(content: object, kind: str) -> None:
    assert all(turn.text.strip() for turn in said([json.dumps(line(kind, "1", content)).encode()]))
