"""``cogvault search``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, document


def found(run: Run, vault: Path, *args: str) -> list[str]:
    result = run("search", *args, "--json", "--tenant", vault)
    assert result.exit_code == 0, result.stdout
    return [hit["file"] for hit in document(result)["hits"]]


def test_first_search_needs_no_index_command(run: Run, vault: Path) -> None:
    assert found(run, vault, "job queue table")[0] == "project_queue.md"


def test_several_words_are_one_query(run: Run, vault: Path) -> None:
    assert found(run, vault, "compiler", "flags") == found(run, vault, "compiler flags")
    assert (
        document(run("search", "compiler", "flags", "--json", "--tenant", vault))["trace"]["query"] == "compiler flags"
    )


def test_edits_are_found_without_an_index_command(run: Run, vault: Path) -> None:
    found(run, vault, "queue")
    (vault / "new.md").write_text("# Zeppelin landing\n\nMast three.\n", encoding="utf-8")
    assert found(run, vault, "zeppelin") == ["new.md"]


def test_no_sync_leaves_edits_out(run: Run, vault: Path) -> None:
    run("index", vault)
    (vault / "new.md").write_text("# Zeppelin landing\n\nMast three.\n", encoding="utf-8")
    assert found(run, vault, "zeppelin", "--no-sync") == []
    assert found(run, vault, "zeppelin", "--sync") == ["new.md"]


def test_finding_nothing_is_no_error(run: Run, vault: Path) -> None:
    args = ("search", "grilled octopus", "--model", "hashing", "--tenant", vault)
    result = run(*args)
    assert result.exit_code == 0
    assert result.stdout.startswith("empty: ")
    assert document(run(*args, "--json"))["status"] == "empty"


def test_finding_nothing_by_keyword_alone_is_said_in_words(run: Run, vault: Path) -> None:
    result = run("search", "grilled octopus", "--tenant", vault)
    assert result.exit_code == 0
    assert "no card" in result.stdout


@pytest.mark.parametrize("query", ["-Werror", "--werror"])
def test_query_with_a_dash_works_after_two_dashes(query: str, run: Run, vault: Path) -> None:
    result = run("search", "--json", "--tenant", vault, "--", query)
    assert [hit["file"] for hit in document(result)["hits"]] == ["reference_flags.md"]


def test_query_in_chinese(run: Run, vault: Path) -> None:
    assert found(run, vault, "打印机") == ["user_设备.md"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--type", "project"), {"project_queue.md", "project_old-queue.md"}),
        (("--type", "reference", "--type", "user"), set()),
        (("--tag", "queue", "--tag", "decision"), {"project_queue.md"}),
        (("--tag", "queue", "--tag", "other"), set()),
        (("--path", "project_queue.md"), {"project_queue.md"}),
        (("--after", "2026-01"), {"project_queue.md"}),
        (("--before", "2026-01-01"), {"project_old-queue.md"}),
        (("--where", "team=harbor"), {"project_queue.md"}),
        (("--where", "team=other"), set()),
        (("-k", "1"), {"project_queue.md"}),
        (("--min-score", "1"), set()),
    ],
)
def test_filters(options: tuple[str, ...], expected: set[str], run: Run, vault: Path) -> None:
    assert set(found(run, vault, "job queue redis table", *options)) == expected


def test_as_of_recalls_what_was_valid_then(run: Run, vault: Path) -> None:
    assert found(run, vault, "job queue", "--as-of", "2025-12-01") == ["project_old-queue.md"]


def test_hits_for_people(run: Run, vault: Path) -> None:
    result = run("search", "job queue in a table", "--tenant", vault)
    head, place, text = result.stdout.splitlines()[:3]
    assert head.split()[0] == "1"
    assert head.endswith("Jobs in PostgreSQL")
    assert place.strip().startswith(f"{vault}/project_queue.md:")
    assert place.endswith(" · project · #queue #decision · 2026-01-20")
    assert "job queue" in text
    assert "Jobs on Redis  [superseded]\n" in result.stdout
    assert "\x1b" not in result.stdout


def test_explain_shows_parts_and_steps(run: Run, vault: Path) -> None:
    plain = run("search", "job queue", "--tenant", vault).stdout
    result = run("search", "job queue", "--tenant", vault, "--explain").stdout
    assert "how it was found" not in plain
    assert "L2" in result
    assert "keyword" in result
    assert "+0." in result
    assert "how it was found" in result
    assert "rung" in result


def test_parts_in_json_add_up_to_the_score(run: Run, vault: Path) -> None:
    hit = document(run("search", "job queue", "--tenant", vault, "--explain", "--json"))["hits"][0]
    assert sum(part["contribution"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=1e-3)


def test_budget_prints_the_packed_answer(run: Run, vault: Path) -> None:
    result = run("search", "job queue", "--tenant", vault, "--budget", "300")
    assert result.exit_code == 0
    assert "The job queue moved from Redis into a table." in result.stdout
    assert " tokens\n" in result.stdout
    assert document(run("search", "job queue", "--tenant", vault, "--budget", "300", "--json"))["tokens"] <= 300


def test_text_of_a_card_cannot_drive_the_terminal(run: Run, vault: Path) -> None:
    (vault / "evil.md").write_text(
        "# Evil \x1b]0;owned\x07 octopus\n\nGrilled \x1b[2J octopus\x9b31m.\n", encoding="utf-8"
    )
    result = run("search", "grilled octopus", "--tenant", vault, "--explain")
    assert "octopus" in result.stdout
    assert not {"\x1b", "\x07", "\x9b"} & set(result.stdout)
