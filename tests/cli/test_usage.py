"""Wrong command lines and vaults that cannot be used: exit codes, and errors that say what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, document

COMMANDS_WITH_A_VAULT = [("index",), ("search", "queue"), ("show", "a.md"), ("status",)]


@pytest.mark.parametrize("args", COMMANDS_WITH_A_VAULT)
def test_no_vault_is_a_usage_error_that_says_how_to_name_one(args: tuple[str, ...], run: Run) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "no vault was named" in result.stderr
    assert "--tenant DIR" in result.stderr
    assert "COGVAULT_TENANT" in result.stderr


@pytest.mark.parametrize("args", COMMANDS_WITH_A_VAULT)
@pytest.mark.parametrize("empty", ["", "  "])
def test_empty_name_is_refused_and_never_the_current_folder(args: tuple[str, ...], empty: str, run: Run) -> None:
    result = run(*args, "--tenant", empty)
    assert result.exit_code == 2
    assert "empty" in result.stderr


def test_empty_variable_names_no_vault(run: Run) -> None:
    result = run("search", "queue", env={"COGVAULT_TENANT": ""})
    assert result.exit_code == 2


@pytest.mark.parametrize("args", [*COMMANDS_WITH_A_VAULT, ("config",)])
def test_missing_folder_is_an_error_and_is_not_created(args: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    result = run(*args, "--tenant", missing)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {missing}: no such folder")
    assert "hint:" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_file_instead_of_a_folder_is_an_error(run: Run, vault: Path) -> None:
    result = run("status", "--tenant", vault / "project_queue.md")
    assert result.exit_code == 3
    assert "not a folder" in result.stderr


def test_missing_folder_as_json(run: Run, tmp_path: Path) -> None:
    result = run("search", "queue", "--json", "--tenant", tmp_path / "missing")
    assert result.exit_code == 3
    assert result.stderr == ""
    assert document(result) == {
        "status": "failed",
        "error": {
            "kind": "VaultError",
            "message": "no such folder",
            "path": str(tmp_path / "missing"),
            "line": None,
            "key": None,
            "hint": document(result)["error"]["hint"],
        },
    }
    assert document(result)["error"]["hint"]


@pytest.mark.parametrize(
    "args",
    [
        ("search", "queue", "--json", "--tennant", "x"),
        ("search", "--json"),
        ("search", "queue", "-k", "0", "--json"),
        ("serch", "--json"),
        ("--json",),
        ("--json", "search", "queue"),
    ],
)
def test_usage_error_as_json(args: tuple[str, ...], run: Run) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stderr == ""
    assert document(result)["status"] == "failed"
    assert document(result)["error"]["kind"] == "UsageError"
    assert document(result)["error"]["hint"]


def test_json_after_two_dashes_is_text(run: Run, tmp_path: Path) -> None:
    result = run("search", "--tenant", tmp_path / "missing", "--", "--json")
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize(("name", "meant"), [("serch", "search"), ("statsu", "status")])
def test_misspelled_command_names_the_nearest(name: str, meant: str, run: Run) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert f"Did you mean {meant!r}?" in result.stderr


def test_misspelled_option_names_the_nearest(run: Run) -> None:
    result = run("search", "queue", "--tennant", "x")
    assert result.exit_code == 2
    assert "--tenant" in result.stderr.partition("hint:")[0]


@pytest.mark.parametrize("query", ["-foo", "-Werror", "-kubernetes", "-1", "--werror-flag"])
def test_query_with_a_dash_is_told_to_go_after_two_dashes(query: str, run: Run) -> None:
    result = run("search", query)
    assert result.exit_code == 2
    assert f"cogvault search -- '{query}'" in result.stderr


def test_bad_value_of_an_option_is_not_taken_for_a_query(run: Run) -> None:
    result = run("search", "queue", "-k", "nine")
    assert result.exit_code == 2
    assert "'-k'" in result.stderr
    assert "cogvault search --help" in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--half-life", "0"),
        ("--mmr", "1.5"),
        ("--min-score", "2"),
        ("--budget", "0"),
        ("--where", "team"),
        ("--layer", "L9"),
    ],
)
def test_values_out_of_range_are_usage_errors(options: tuple[str, str], run: Run, vault: Path) -> None:
    result = run("search", "queue", "--tenant", vault, *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr


def test_bad_date_is_a_usage_error(run: Run, vault: Path) -> None:
    result = run("search", "queue", "--tenant", vault, "--after", "soon")
    assert result.exit_code == 2
    assert "'soon'" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("record", ""),
        ("record", "---\ntitle: x\n"),
        ("record", "text", "--importance", "7"),
        ("record", "text", "--valid-until", "soon"),
        ("update", "project_queue.md"),
        ("update", "project_queue.md", "--set", "importance=7"),
        ("update", "project_queue.md", "--section", "Jobs in PostgreSQL"),
        ("update", "project_queue.md", "--set", "a=1", "--unset", "a"),
        ("supersede", "project_queue.md", "project_queue.md"),
        ("search", "queue", "--path", "../x"),
        ("search", "queue", "--type", ""),
        ("search", "queue", "--tag", ","),
        ("search", "queue", "-k", "1001"),
    ],
)
def test_what_no_vault_could_do_is_a_usage_error(args: tuple[str, ...], run: Run, vault: Path) -> None:
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    result = run(*args, "--tenant", vault)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before


def test_a_path_filter_outside_is_told_what_to_name(run: Run, vault: Path) -> None:
    result = run("search", "queue", "--path", "../..", "--tenant", vault)
    assert "hint:  name a folder or a card below the vault's folder" in result.stderr


def test_two_different_vaults_are_a_usage_error(run: Run, vault: Path, tmp_path: Path) -> None:
    result = run("index", tmp_path, "--tenant", vault)
    assert result.exit_code == 2
    assert "two vaults" in result.stderr


def test_bad_environment_is_a_usage_error_that_names_the_variable(run: Run, vault: Path) -> None:
    result = run("status", "--tenant", vault, env={"COGVAULT_HALF_LIFE_DAYS": "long"})
    assert result.exit_code == 2
    assert "COGVAULT_HALF_LIFE_DAYS" in result.stderr


def test_bad_vault_file_names_the_place(run: Run, vault: Path) -> None:
    (vault / ".cogvault.toml").write_text("recursive = true\nhalf_life = 3\n", encoding="utf-8")
    result = run("status", "--tenant", vault)
    assert result.exit_code == 3
    assert f"{vault / '.cogvault.toml'}:2: unknown key 'half_life'" in result.stderr
    assert "half_life_days" in result.stderr


def test_unexpected_error_is_one_line_without_traceback(run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the floor is gone")

    monkeypatch.setattr("cogvault.vault.Vault.status", fail)
    result = run("status", "--tenant", vault)
    assert result.exit_code == 3
    assert "RuntimeError: the floor is gone" in result.stderr
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in run("status", "--tenant", vault, "--debug").stderr


def test_interrupt_says_that_work_is_kept(run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cogvault.vault.Vault.sync", stop)
    result = run("index", vault)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_home_folder_of_nobody_is_a_wrong_command_line(run: Run, vault: Path) -> None:
    named = run("status", "--tenant", "~nobody-of-this-name/memory")
    assert (named.exit_code, "nobody has such a home folder" in named.stderr) == (2, True)
    for variable in ("COGVAULT_TENANT", "COGVAULT_STATE_DIR", "COGVAULT_RUNTIME_DIR"):
        result = run("status", env={"COGVAULT_TENANT": str(vault), variable: "~nobody-of-this-name/x"})
        assert result.exit_code == (0 if variable == "COGVAULT_RUNTIME_DIR" else 2), result.stderr
        assert "such" in result.stderr
        assert "home folder" in result.stderr
        assert "defect" not in result.stderr
