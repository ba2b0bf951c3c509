"""``cogvault show``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.conftest import Run, document


def test_prints_the_file_as_it_is(run: Run, vault: Path) -> None:
    result = run("show", "project_queue.md", "--tenant", vault)
    assert result.exit_code == 0
    assert result.stdout == (vault / "project_queue.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("lines", "count"), [("2-3", 2), ("2", 1), ("L2-L3", 2), ("3-9999", 9)])
def test_prints_some_lines(lines: str, count: int, run: Run, vault: Path) -> None:
    shown = run("show", "project_queue.md", "--lines", lines, "--tenant", vault).stdout.splitlines()
    start = int(lines.lstrip("L").split("-")[0]) - 1
    assert shown == (vault / "project_queue.md").read_text(encoding="utf-8").splitlines()[start : start + count]


def test_lines_behind_the_end_are_said_to_be_none(run: Run, vault: Path) -> None:
    result = run("show", "project_queue.md", "--lines", "900-901", "--tenant", vault)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "project_queue.md has 11 lines\n"
    card = document(run("show", "project_queue.md", "--lines", "900-901", "--tenant", vault, "--json"))
    assert (card["status"], card["text"], card["total_lines"]) == ("empty", "", 11)


@pytest.mark.parametrize("lines", ["0", "5-2", "a-b", "-3", "1-2-3"])
def test_wrong_lines_are_a_usage_error(lines: str, run: Run, vault: Path) -> None:
    result = run("show", "project_queue.md", f"--lines={lines}", "--tenant", vault)
    assert result.exit_code == 2
    assert "10-24" in result.stderr


def test_place_as_a_search_prints_it_will_do(run: Run, vault: Path) -> None:
    whole = run("show", "project_queue.md", "--tenant", vault).stdout
    hit = document(run("search", "job queue table", "--tenant", vault, "--json"))["hits"][0]
    printed = run("search", "job queue table", "--tenant", vault).stdout.splitlines()[1].split(" · ")[0].strip()
    assert run("show", printed, "--tenant", vault).stdout == whole
    first, last = hit["lines"]
    cited = document(run("show", hit["citation"], "--tenant", vault, "--json"))
    assert cited["lines"] == [first, last]
    assert cited["text"] == "".join(whole.splitlines(keepends=True)[first - 1 : last])


@pytest.mark.parametrize(
    "id", ["nothing.md", "../memory/project_queue.md", "/etc/hostname", "nothing.md:3", "../x.md#L2"]
)
def test_what_is_no_card_is_refused(id: str, run: Run, vault: Path) -> None:
    result = run("show", id, "--tenant", vault)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")


def test_json(run: Run, vault: Path) -> None:
    card = document(run("show", "user_设备.md", "--lines", "1-2", "--tenant", vault, "--json"))
    assert card == {
        "status": "ok",
        "id": "user_设备.md",
        "lines": [1, 2],
        "total_lines": 6,
        "hash": hashlib.sha256((vault / "user_设备.md").read_bytes()).hexdigest(),
        "text": "---\ntitle: 设备清单\n",
    }
