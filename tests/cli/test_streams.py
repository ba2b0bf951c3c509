"""What a process writes where: one JSON document, no colors for programs, any locale, a closed pipe."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Spawn, document


@pytest.mark.parametrize(
    "args", [("index",), ("search", "queue"), ("status",), ("show", "project_queue.md"), ("config",)]
)
def test_standard_output_is_one_document_even_with_debug(args: tuple[str, ...], spawn: Spawn, vault: Path) -> None:
    done = spawn(*args, "--json", "--debug", "--tenant", vault)
    assert done.returncode == 0, done.stderr
    assert document(done)


def test_document_holds_the_letters_themselves(spawn: Spawn, vault: Path) -> None:
    done = spawn("search", "打印机", "--json", "--tenant", vault)
    assert '"title": "设备清单"' in done.stdout


@pytest.mark.parametrize("extra", [{}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}])
def test_locale_without_letters_gets_the_same_document(extra: dict[str, str], spawn: Spawn, vault: Path) -> None:
    done = spawn("show", "user_设备.md", "--json", "--tenant", vault, env={"LC_ALL": "C", **extra})
    assert document(done)["text"] == (vault / "user_设备.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_output_that_knows_few_letters_breaks_nothing(encoding: str, spawn: Spawn, vault: Path) -> None:
    done = spawn("search", "打印机", "--explain", "--tenant", vault, env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "1  ###" in done.stdout


def test_file_name_that_is_no_text_breaks_nothing(spawn: Spawn, vault: Path) -> None:
    try:
        (vault / os.fsdecode(b"caf\xe9.md")).write_text("# Coffee\n\nGrinder settings.\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes text names only")
    for args in (("index",), ("search", "grinder"), ("status",)):
        done = spawn(*args, "--tenant", vault)
        assert done.returncode == 0, done.stderr
        assert document(spawn(*args, "--json", "--tenant", vault))


def test_no_color_for_programs_nor_when_it_is_not_wanted(spawn: Spawn, vault: Path) -> None:
    assert "\x1b" not in spawn("search", "queue", "--tenant", vault).stdout
    for extra in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[3" not in spawn("search", "queue", "--tenant", vault, env=extra).stdout
    assert "\x1b[" in spawn("search", "queue", "--tenant", vault, env={"FORCE_COLOR": "1", "TERM": "xterm"}).stdout


def test_long_lines_are_not_wrapped_for_programs(spawn: Spawn, vault: Path) -> None:
    (vault / "long.md").write_text("# Long\n\n" + "zeppelin " * 25 + "\n", encoding="utf-8")
    done = spawn("search", "zeppelin", "--tenant", vault, env={"COLUMNS": "40"})
    assert max(len(line) for line in done.stdout.splitlines()) > 200


def test_exit_codes_of_a_process(spawn: Spawn, vault: Path, tmp_path: Path) -> None:
    assert spawn("search", "nothing of the kind", "--tenant", vault).returncode == 0
    assert spawn("search", "-nope", "--tenant", vault).returncode == 2
    failed = spawn("search", "queue", "--json", "--tenant", tmp_path / "missing")
    assert failed.returncode == 3
    assert failed.stderr == ""
    assert json.loads(failed.stdout)["status"] == "failed"


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
@pytest.mark.parametrize("args", [["config"], ["config", "--json"], ["--help"]])
def test_closed_pipe_is_silent(args: list[str]) -> None:
    command = [sys.executable, "-m", "cogvault_cli", *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


_FULL = Path("/dev/full")


@pytest.mark.skipif(not _FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("args", [["config"], ["show", "nobody.md"], ["record", "A wombat digs.", "--title", "Wombat"]])
def test_output_that_cannot_be_written_is_said(
    args: list[str], options: list[str], vault: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "cogvault_cli", *args, *options, "--tenant", str(vault)]
    environ = {**os.environ, "COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}
    with _FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environ, text=True, timeout=60)
    assert done.returncode == 3
    if args[0] != "show" or options:
        assert done.stderr.startswith("error: standard output cannot be written: No space left on device\n")
    assert (vault / "note_wombat.md").exists() == (args[0] == "record")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "args", ["search queue", "search queue --json", "config", "index", "show project_queue.md", "record"]
)
def test_closed_streams_are_as_empty_ones(args: str, closed: str, vault: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}
    command = f"exec {sys.executable} -m cogvault_cli {args} --tenant {vault} {closed}"
    done = subprocess.run(command, shell=True, env=environ, capture_output=True, text=True, timeout=60, input="")
    assert "Traceback" not in done.stderr + done.stdout
    assert "defect" not in done.stderr
    assert done.returncode == (2 if args == "record" else 0)


def test_shell_completion_knows_commands_and_options(spawn: Spawn) -> None:
    def complete(words: str, place: int) -> set[str]:
        env = {"_COGVAULT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        return {line.removeprefix("plain,") for line in spawn(env=env).stdout.splitlines()}

    assert complete("cogvault s", 1) == {"search", "session", "show", "status", "supersede"}
    assert "--tenant" in complete("cogvault search --t", 2)
    assert complete("cogvault index no", 2) == {"dir,no"}


@pytest.mark.parametrize("encoding", ["0", "1"])
def test_a_query_is_utf8_whatever_the_locale_says(encoding: str, spawn: Spawn, vault: Path) -> None:
    (vault / "devices.md").write_text("---\ntitle: 设备清单\n---\n\n扫描仪\n", encoding="utf-8")
    environ = {"LC_ALL": "C", "PYTHONUTF8": encoding}
    result = spawn("search", "设备清单", "--json", "--tenant", vault, env=environ)
    assert document(result)["trace"]["query"] == "设备清单"
    assert "devices.md" in [hit["id"] for hit in document(result)["hits"]]


def test_a_recorded_text_is_utf8_whatever_the_locale_says(spawn: Spawn, vault: Path) -> None:
    result = spawn("record", "设备清单 wombat", "--json", "--tenant", vault, env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert result.returncode == 0, result.stderr
    assert any("设备清单 wombat" in path.read_text(encoding="utf-8") for path in vault.iterdir())


def test_a_damaged_cache_of_the_machine_is_said_on_stderr_and_nothing_else_is(
    run: Run, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("status", "--tenant", vault)
    logging.getLogger("cogvault.embedders.prepared").warning("model cache /x is damaged and made anew")
    logging.getLogger("cogvault.engine").warning("what the status says anyway")
    streams = capsys.readouterr()
    assert (streams.out, streams.err) == ("", "model cache /x is damaged and made anew\n")


@pytest.mark.skipif(os.name != "posix", reason="Windows reads names in one way")
def test_names_are_read_as_utf_8_in_the_c_locale(vault: Path, spawn: Spawn) -> None:
    check_names(vault, spawn, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})


def test_names_are_read_as_utf_8_where_python_reads_latin_1(vault: Path, spawn: Spawn, latin1: dict[str, str]) -> None:
    check_names(vault, spawn, latin1)


def check_names(vault: Path, spawn: Spawn, environ: dict[str, str]) -> None:
    (vault / "Café ř.md").write_text("# A card with a name\n\nwombat\n", "utf-8")
    done = spawn("search", "wombat", "--tenant", vault, "--json", env=environ)
    assert [hit["id"] for hit in json.loads(done.stdout)["hits"]] == ["Café ř.md"]


@pytest.mark.skipif(os.name != "posix", reason="Windows reads names in one way")
@pytest.mark.parametrize("end", ["", ">&-"], ids=["", "output closed"])
def test_what_begins_anew_to_read_names_does_so_once(end: str) -> None:
    environ = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    script = f'exec "$0" -X utf8=0 -m cogvault_cli --version {end}'
    done = subprocess.run(["sh", "-c", script, sys.executable], env=environ, capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")
