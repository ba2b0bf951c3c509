"""Help: what every command offers is pinned here, so that no option is renamed or lost by accident."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from cogvault_cli.main import COMMANDS, cli
from tests.cli.conftest import Run

SHARED = {
    "--daemon", "--debug", "--half-life", "--ignore", "--json", "--mmr", "--model", "--no-daemon", "--no-recursive",
    "--no-strip-frontmatter", "--recursive", "--rerank", "--strip-frontmatter", "--tenant", "--type", "-k",
}  # fmt: skip
OWN = {
    "index": {"--verify", "--no-verify"},
    "watch": set(),
    "search": {
        "--after", "--as-of", "--before", "--budget", "--explain", "--layer", "--min-score", "--no-explain",
        "--no-sync", "--path", "--sync", "--tag", "--where",
    },
    "show": {"--lines"},
    "record": {
        "--description", "--importance", "--jsonl", "--meta", "--no-jsonl", "--no-pinned", "--no-redact", "--pinned",
        "--redact", "--source", "--tag", "--title", "--to", "--valid-from", "--valid-until",
    },
    "update": {"--append", "--base-hash", "--body", "--no-redact", "--redact", "--section", "--set", "--unset"},
    "layers": {"--export", "--import"},
    "session": {"--at", "--jsonl", "--last", "--meta", "--no-jsonl", "--speaker"},
    "ls": {"--archived", "--due", "--no-archived", "--no-due", "--no-tree", "--tree"},
    "move": set(),
    "supersede": set(),
    "history": set(),
    "forget": {
        "--apply", "--archived", "--no-apply", "--no-archived", "--no-purge", "--no-sweep", "--purge", "--sweep",
    },
    "restore": {"--version"},
    "status": set(),
    "config": set(),
    "demo": set(),
}  # fmt: skip
# Commands that are about no vault, with all their options.
ALONE = {
    "daemon": {"--debug", "--json", "--print-unit", "--status", "--stop", "--tcp"},
    "hook": {"--debug", "--tenant"},
    "mcp": set(),
}
ARGUMENTS = {
    "index": "[DIR]",
    "watch": "[DIR]",
    "search": "QUERY...",
    "show": "ID",
    "record": "[TEXT]",
    "update": "ID",
    "session": "ACTION [NAME] [TEXT]",
}


def load(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def test_these_are_the_commands() -> None:
    assert set(COMMANDS) == set(OWN) | set(ALONE)


@pytest.mark.parametrize("name", ALONE)
def test_commands_about_no_vault_have_options_of_their_own(name: str) -> None:
    params = [param for param in load(name).params if isinstance(param, click.Option)]
    assert {text for param in params for text in (*param.opts, *param.secondary_opts)} == ALONE[name]


@pytest.mark.parametrize("name", OWN)
def test_options_are_the_pinned_ones(name: str) -> None:
    params = [param for param in load(name).params if isinstance(param, click.Option)]
    assert {text for param in params for text in (*param.opts, *param.secondary_opts)} == SHARED | OWN[name]


@pytest.mark.parametrize("name", OWN)
def test_every_option_is_explained(name: str) -> None:
    assert [param.name for param in load(name).params if isinstance(param, click.Option) and not param.help] == []


@pytest.mark.parametrize("name", OWN)
def test_help_shows_options_and_an_example(name: str, run: Run) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: cogvault {name} [OPTIONS] {ARGUMENTS.get(name, '')}".strip() in result.stdout
    assert all(option in result.stdout for option in SHARED | OWN[name])
    assert f"\nExamples:\n  cogvault {name}" in result.stdout


@pytest.mark.parametrize("name", OWN)
def test_line_in_the_list_is_the_command_s_own(name: str) -> None:
    assert load(name).get_short_help_str(limit=200) == COMMANDS[name]


def test_example_lines_are_valid_command_lines() -> None:
    import shlex

    for name in COMMANDS:
        for example in load(name).examples:  # type: ignore[attr-defined]
            words = shlex.split(example.partition(" | ")[0])
            assert words[:2] == ["cogvault", name]
            load(name).make_context(name, words[2:])  # raises a usage error when one is wrong


def test_no_arguments_show_the_help(run: Run) -> None:
    result = run()
    assert result.exit_code == 0
    assert result.stdout == run("--help").stdout


def test_version_is_the_library_s(run: Run) -> None:
    import cogvault

    assert run("--version").stdout == f"cogvault {cogvault.__version__}\n"


def test_help_imports_no_command_and_no_library() -> None:
    program = (
        "import sys\nfrom cogvault_cli.main import cli\n"
        "try: cli.main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in ('cogvault', 'rich', 'numpy', 'pydantic')]\n"
        "print(heavy + [name for name in sys.modules if name.startswith('cogvault_cli.commands')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
