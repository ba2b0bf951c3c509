"""``cogvault session``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogvault_cli.main import cli
from tests.cli.conftest import Run, document


def fed(text: str, *args: str | Path) -> str:
    """Run with a standard input; what it printed."""
    result = CliRunner().invoke(cli, [str(arg) for arg in args], input=text, env={"COGVAULT_MODEL": "none"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_was_appended_is_shown_and_found(run: Run, vault: Path) -> None:
    added = run(
        "session", "append", "standup", "Shall we\n# drop Redis?", "--speaker", "Ana", "--at", "2024-03-15T10:30:00Z",
        "--meta", "tool=chat", "--meta", "n=1", "--tenant", vault,
    )  # fmt: skip
    assert (added.exit_code, added.stdout) == (0, "1 turn added to standup\n")
    assert document(run("session", "show", "standup", "--tenant", vault, "--json")) == {
        "status": "ok",
        "session": "standup",
        "turns": [
            {
                "speaker": "Ana",
                "text": "Shall we\n# drop Redis?",
                "at": "2024-03-15T10:30:00+00:00",
                "meta": {"tool": "chat", "n": 1},
            }
        ],
    }
    hit = document(run("search", "shall we drop Redis", "--tenant", vault, "--json"))["hits"][0]
    assert (hit["speaker"], hit["file"]) == ("Ana", "session/standup/timeline/2024-03-15_001.md")


def test_text_comes_from_standard_input_too(run: Run, vault: Path) -> None:
    fed("Two\n\nparagraphs\n", "session", "append", "s", "--speaker", "Ana", "--tenant", vault)
    assert run("session", "show", "s", "--tenant", vault).stdout.endswith(": Two\n\nparagraphs\n\n")


def test_many_turns_come_as_json_lines(run: Run, vault: Path) -> None:
    lines = [json.dumps({"speaker": "Ana", "text": str(number), "meta": {"n": number}}) for number in range(5)]
    printed = fed("\n".join(lines), "session", "append", "s", "--jsonl", "--tenant", vault, "--json")
    assert [turn["meta"]["n"] for turn in json.loads(printed)["turns"]] == [0, 1, 2, 3, 4]
    shown = document(run("session", "show", "s", "--last", "2", "--tenant", vault, "--json"))
    assert [turn["text"] for turn in shown["turns"]] == ["3", "4"]


def test_closing_tells_the_session_and_ls_lists_it(run: Run, vault: Path) -> None:
    run("session", "append", "standup", "We drop Redis in May.", "--speaker", "Ana", "--tenant", vault)
    assert (
        "We drop Redis in May." in document(run("session", "close", "standup", "--tenant", vault, "--json"))["overview"]
    )
    assert run("session", "ls", "--tenant", vault).stdout == "standup\n"


def test_a_look_makes_nothing(run: Run, vault: Path) -> None:
    assert document(run("session", "ls", "--tenant", vault, "--json")) == {"status": "empty", "sessions": []}
    assert document(run("session", "show", "x", "--tenant", vault, "--json"))["status"] == "empty"
    assert not (vault / "session").exists()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["append"], 2, "no session was named"),
        (["append", "s", "text"], 2, "nobody speaks"),
        (["append", "s", "text", "--speaker", "*"], 2, "cannot be a speaker's name"),
        (["append", "s", "text", "--speaker", "Ana", "--at", "noon"], 2, "is no time"),
        (["append", "../s", "text", "--speaker", "Ana"], 3, "names no card of the vault"),
        (["append", "s", "text", "--speaker", "Ana", "--meta", "x"], 2, "is not KEY=VALUE"),
        (["dance"], 2, "dance"),
    ],
)
def test_mistakes_are_explained(args: list[str], code: int, said: str, run: Run, vault: Path) -> None:
    result = run("session", *args, "--tenant", vault)
    assert result.exit_code == code
    assert said in result.stderr
    assert not (vault / "session").exists()


@pytest.mark.parametrize("line", ["nothing", "[]", '{"text": "x"}', '{"speaker": "A", "text": "x", "when": 1}'])
def test_a_line_that_is_no_turn_is_named_and_those_before_it_are_kept(line: str, vault: Path) -> None:
    text = '{"speaker": "Ana", "text": "kept"}\n' + line
    args = ["session", "append", "s", "--jsonl", "--tenant", str(vault)]
    result = CliRunner().invoke(cli, args, input=text)
    assert result.exit_code == 2
    assert "line 2 of standard input" in result.stderr
    [file] = (vault / "session" / "s" / "timeline").iterdir()
    assert "kept" in file.read_text("utf-8")


def test_a_session_without_turns_is_not_closed(run: Run, vault: Path) -> None:
    result = run("session", "close", "nosuch", "--tenant", vault)
    assert result.exit_code == 2
    assert "no session 'nosuch' has turns" in result.stderr
