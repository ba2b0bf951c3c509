"""``cogvault record`` and ``cogvault update``."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cogvault_cli.main import cli
from tests.cli.conftest import Run, document


def test_a_card_is_written_and_found(run: Run, vault: Path) -> None:
    result = run("record", "Deploys go out on Tuesday.", "--tag", "ops", "--type", "project", "--tenant", vault)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "project_deploys-go-out-on-tuesday.md  created\n"
    found = document(run("search", "when do deploys go out", "--tenant", vault, "--json"))
    assert found["hits"][0]["id"] == "project_deploys-go-out-on-tuesday.md"


def test_json_tells_all(run: Run, vault: Path) -> None:
    token = "ghp_" + "aB3" * 12
    args = ("--meta", "ticket=7", "--importance", "0.5", "--pinned", "--valid-until", "2027-01-01", "--source", "chat")
    done = document(run("record", f"The token is {token}", "--title", "T", *args, "--tenant", vault, "--json"))
    data = (vault / "note_t.md").read_bytes()
    assert (done["status"], done["action"], done["id"]) == ("ok", "created", "note_t.md")
    assert done["hash"] == hashlib.sha256(data).hexdigest()
    assert done["secrets"]
    assert token not in str(done)
    text = data.decode()
    for line in ("ticket: 7", "importance: 0.5", "pinned: true", "valid_until: 2027-01-01", "source: chat"):
        assert line in text
    masked = run("record", f"Another token {token}", "--redact", "--tenant", vault)
    assert token not in "".join(path.read_text() for path in vault.iterdir() if path.name != "note_t.md")
    assert masked.exit_code == 0


def test_a_near_duplicate_and_a_secret_are_said(run: Run, vault: Path) -> None:
    text = "The job queue moved to a table in PostgreSQL."
    run("record", text, "--tenant", vault)
    result = run("record", f"{text} password: hunter2", "--title", "Q", "--tenant", vault)
    assert "says nearly the same: note_the-job-queue-moved-to-a-table-in-postgresql.md" in result.stdout
    assert "looks like a secret (Password or key); --redact masks it" in result.stdout
    again = run("record", text, "--tenant", vault)
    assert again.stdout.endswith("  existing\n")


def test_standard_input_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    environ = {
        **os.environ,
        "COGVAULT_MODEL": "none",
        "COGVAULT_INDEX_DIR": str(tmp_path / "indexes"),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
    }
    command = [sys.executable, "-m", "cogvault_cli", "record", "--tenant", str(vault)]
    done = subprocess.run(command, input="# Привіт\r\n\r\nСвіт ř 🎉".encode(), env=environ, check=True, timeout=60)
    assert done.returncode == 0
    (card,) = vault.iterdir()  # whatever its name: that of a locale without such letters has none of them
    data = card.read_bytes()
    assert data.endswith("# Привіт\r\n\r\nСвіт ř 🎉\n".encode())


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("",), 2),
        (("x", "--to", "../out.md"), 3),
        (("x", "--to", "project_queue.md"), 3),
        (("--", "---\ntitle: x\nno closer"), 2),
        (("x", "--importance", "7"), 2),
        (("x", "--meta", "nothing"), 2),
        (("x", "--type", "a", "--type", "b"), 2),
    ],
)
def test_what_cannot_be_written_is_refused(run: Run, vault: Path, args: tuple[str, ...], code: int) -> None:
    before = {path: path.read_bytes() for path in vault.iterdir()}
    result = run("record", "--tenant", vault, *args)
    assert result.exit_code == code
    assert result.stderr.startswith("error: ")
    assert {path: path.read_bytes() for path in vault.iterdir()} == before


def test_keys_are_set_and_unset(run: Run, vault: Path) -> None:
    card = vault / "project_queue.md"
    before = card.read_text()
    args = ("--set", "tags=queue,ops", "--set", "importance=0.8", "--unset", "team")
    result = run("update", card.name, *args, "--tenant", vault)
    assert (result.exit_code, result.stdout) == (0, "project_queue.md  updated\n")
    expected = before.replace("[queue, decision]", "[queue, ops]").replace("team: harbor\n", "importance: 0.8\n")
    assert card.read_text() == expected
    assert run("update", card.name, *args, "--tenant", vault).stdout == "project_queue.md  unchanged\n"


def test_a_section_is_changed_and_the_change_is_found(run: Run, vault: Path) -> None:
    card = vault / "project_queue.md"
    run("update", card.name, "--section", "Jobs in PostgreSQL", "--append", "Wombats approve.", "--tenant", vault)
    assert card.read_text().endswith("into a table.\n\nWombats approve.\n")
    found = document(run("search", "wombats", "--tenant", vault, "--json"))
    assert found["hits"][0]["id"] == card.name
    missing = run("update", card.name, "--section", "Nope", "--body", "x", "--tenant", vault)
    assert missing.exit_code == 2
    assert "hint:  its sections include 'Jobs in PostgreSQL'" in missing.stderr


def test_another_hash_is_a_conflict(run: Run, vault: Path) -> None:
    card = vault / "project_queue.md"
    hash = document(run("show", card.name, "--tenant", vault, "--json"))["hash"]
    card.write_text(card.read_text() + "\nby hand\n")
    before = card.read_bytes()
    result = run("update", card.name, "--body", "mine", "--base-hash", hash, "--tenant", vault, "--json")
    assert result.exit_code == 3
    assert document(result)["error"]["kind"] == "ConflictError"
    assert card.read_bytes() == before
    hash = document(run("show", card.name, "--tenant", vault, "--json"))["hash"]
    assert run("update", card.name, "--body", "mine", "--base-hash", hash, "--tenant", vault).exit_code == 0


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("title=1.10", "title: 1.10"),
        ("commit=12e4", "commit: 12e4"),
        ("name=NaN", "name: NaN"),
        ("build=007", "build: '007'"),
        ("big=0.1234567890123456789", "big: 0.1234567890123456789"),
        ("long=12345678901234567890", "long: 12345678901234567890"),
        ("none=null", "none: 'null'"),
        ("share=0.25", "share: 0.25"),
        ("share=-3", "share: -3"),
        ("done=true", "done: true"),
        ('text="2"', "text: '2'"),
        ('text="Yes", she said', "text: '\"Yes\", she said'"),
        ('list=[1.10, 2, "x"]', "list: [1.10, 2, x]"),
        ('map={"a": 1e3}', "map: {a: 1e3}"),
    ],
)
def test_text_that_looks_like_a_number_stays_text(run: Run, vault: Path, given: str, written: str) -> None:
    card = vault / "project_queue.md"
    result = run("update", card.name, "--set", given, "--tenant", vault)
    assert result.exit_code == 0, result.stderr
    made = written.replace("'", "").replace('"', "")
    assert made in [line.replace("'", "").replace('"', "") for line in card.read_text().splitlines()]
    assert run("update", card.name, "--set", given, "--tenant", vault).stdout == "project_queue.md  unchanged\n"


def lines(*items: object) -> str:
    return "".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in items)


def test_many_cards_come_as_json_lines(vault: Path) -> None:
    cards = (
        {"content": "Deploys go out on Tuesday.", "tags": "ops, release", "importance": 0.5, "redact": None},
        {"content": "  "},
        {"content": "Ana likes tea.", "to": "cogvault://user/ana/", "type": "user", "meta": {"ticket": 7}},
        {"content": "Deploys go out on Tuesday."},
    )
    args = ["record", "--jsonl", "--type", "project", "--meta", "by=me", "--tenant", str(vault)]
    result = CliRunner().invoke(cli, [*args, "--json"], input=lines(*cards), env={"COGVAULT_MODEL": "none"})
    told = document(result)
    assert (result.exit_code, told["status"]) == (3, "failed")
    assert [item["action"] for item in told["results"]] == ["created", "refused", "created", "existing"]
    assert "tags: [ops, release]\nimportance: 0.5" in (vault / "project_deploys-go-out-on-tuesday.md").read_text()
    assert "by: me\nticket: 7" in (vault / "user" / "ana" / "user_ana-likes-tea.md").read_text()
    again = CliRunner().invoke(cli, args, input=lines(cards[0]), env={"COGVAULT_MODEL": "none"})
    assert (again.exit_code, again.stdout.split()[1]) == (0, "existing")


@pytest.mark.parametrize("line", ["{", "[]", {"title": "x"}, {"content": 1}, {"content": "x", "n": 1}, {"tags": [1]}])
def test_a_line_that_is_no_card_writes_nothing(vault: Path, line: object) -> None:
    args = ["record", "--jsonl", "--tenant", str(vault)]
    before = sorted(vault.iterdir())
    text = lines({"content": "A first card."}, line if line != {"tags": [1]} else {"content": "x", "tags": [1]})
    result = CliRunner().invoke(cli, args, input=text, env={"COGVAULT_MODEL": "none"})
    assert (result.exit_code, "line 2" in result.stderr) == (2, True)
    assert sorted(vault.iterdir()) == before


def test_json_that_is_nested_too_deeply_is_a_wrong_line_or_text(vault: Path, run: Run) -> None:
    deep = "[" * 100_000
    args = ["record", "--jsonl", "--tenant", str(vault)]
    result = CliRunner().invoke(cli, args, input=f"{deep}\n", env={"COGVAULT_MODEL": "none"})
    assert (result.exit_code, "line 1 of standard input is no JSON" in result.stderr) == (2, True)
    assert run("record", "A wombat digs.", "--meta", f"x={deep[:5000]}", "--tenant", vault).exit_code == 0
