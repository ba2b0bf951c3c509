"""``cogvault index``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, document


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def test_folder_by_position_option_and_variable_are_the_same(run: Run, vault: Path) -> None:
    first = document(run("index", vault, "--json"))
    assert len(first["added"]) == 4
    for args, env in (
        (("index", "--tenant", vault), {}),
        (("index",), {"COGVAULT_TENANT": str(vault)}),
        (("index", vault, "--tenant", vault), {}),
        (("index", vault), {"COGVAULT_TENANT": "/another"}),
    ):
        again = document(run(*args, "--json", env=env))
        assert (again["added"], again["unchanged"]) == ([], 4)


def test_nothing_is_written_into_the_vault(run: Run, vault: Path) -> None:
    before = snapshot(vault)
    run("index", vault)
    assert snapshot(vault) == before


def test_report_counts_what_happened(run: Run, vault: Path) -> None:
    run("index", vault)
    (vault / "new.md").write_text("# New\n\nSomething.\n", encoding="utf-8")
    (vault / "reference_flags.md").write_text("# Flags\n\nOther words.\n", encoding="utf-8")
    (vault / "project_old-queue.md").unlink()
    (vault / "project_queue.md").rename(vault / "project_jobs.md")
    report = document(run("index", vault, "--json"))
    assert report["added"] == ["new.md"]
    assert report["changed"] == ["reference_flags.md"]
    assert report["removed"] == ["project_old-queue.md"]
    assert report["moved"] == [["project_queue.md", "project_jobs.md"]]


def test_table_for_people(run: Run, vault: Path) -> None:
    result = run("index", vault)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{vault}  synced in ")
    rows = {line.split()[0]: line.split()[1] for line in lines[1:9]}
    assert rows == {
        "added": "4",
        "changed": "0",
        "moved": "0",
        "removed": "0",
        "unchanged": "0",
        "failed": "0",
        "vectors": "0",
        "pending": rows["pending"],
    }


def test_bad_card_is_named_and_the_others_are_indexed(run: Run, vault: Path) -> None:
    (vault / "broken.md").write_text("---\ntitle: [open\n---\n\nStill searchable text.\n", encoding="utf-8")
    result = run("index", vault)
    assert result.exit_code == 0
    assert "broken.md" in result.stdout
    assert document(run("search", "still searchable", "--tenant", vault, "--json"))["hits"][0]["file"] == "broken.md"


def test_verify_reads_every_file(run: Run, vault: Path) -> None:
    run("index", vault)
    card = vault / "reference_flags.md"
    times = card.stat()
    card.write_bytes(card.read_bytes().replace(b"-Werror", b"-Wextra"))
    os.utime(card, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert document(run("index", vault, "--verify", "--json"))["changed"] == ["reference_flags.md"]


@pytest.mark.parametrize(
    ("options", "count"),
    [((), 4), (("--recursive",), 5), (("--no-recursive",), 4), (("--ignore", "user_*", "--ignore", "reference_*"), 2)],
)
def test_shared_options_decide_what_is_indexed(options: tuple[str, ...], count: int, run: Run, vault: Path) -> None:
    (vault / "sub").mkdir()
    (vault / "sub" / "inner.md").write_text("# Inner\n", encoding="utf-8")
    assert len(document(run("index", vault, *options, "--json"))["added"]) == count


def test_option_wins_over_environment_and_file(run: Run, vault: Path) -> None:
    (vault / "sub").mkdir()
    (vault / "sub" / "inner.md").write_text("# Inner\n", encoding="utf-8")
    (vault / ".cogvault.toml").write_text("recursive = true\n", encoding="utf-8")
    report = document(run("index", vault, "--no-recursive", "--json", env={"COGVAULT_RECURSIVE": "true"}))
    assert len(report["added"]) == 4
