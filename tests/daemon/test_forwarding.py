"""Commands ask the daemon when one answers, and do the work themselves when none does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogvault import Draft
from cogvault.client import Endpoint, RemoteVault, endpoints
from cogvault.client.connection import Connection, NobodyListens, Replaced
from cogvault.client.endpoint import socket_path
from cogvault.errors import DaemonError
from cogvault_cli.daemon.house import House
from tests.daemon.conftest import Ask, Cogvault, Start, serving, wait_until

COMMANDS = (
    ("search", "Redis table"),
    ("show", "project_queue.md"),
    ("record", "A fact that is new."),
    ("update", "user_ana.md", "--append", "More."),
    ("layers", "project_queue.md"),
    ("session", "append", "standup", "Hello.", "--speaker", "Ana"),
    ("session", "show", "standup"),
    ("ls",),
    ("ls", "--tree"),
    ("move", "user_ana.md", "user_anna.md"),
    ("supersede", "project_queue.md", "reference_flags.md"),
    ("forget", "reference_flags.md"),
    ("restore", "reference_flags.md"),
    ("forget", "--sweep"),
    ("layers", "--export"),
    ("status",),
)


def test_commands_work_through_it(start: Start, cogvault: Cogvault, folder: Path) -> None:
    start()
    for command in COMMANDS:
        told = cogvault(*command, "--tenant", folder)
        assert (told.returncode, told.stderr) == (0, ""), command
    [endpoint] = endpoints()
    connection = Connection(endpoint)
    assert connection.call("/v1/status")["vaults"] == [str(folder)]
    connection.close()


def test_the_answer_is_the_same_with_and_without_it(start: Start, cogvault: Cogvault, folder: Path) -> None:
    start()
    search = ("search", "Redis table", "--tenant", folder)
    assert cogvault(*search).stdout == cogvault(*search, "--no-daemon").stdout


@pytest.mark.parametrize("way", ["option", "variable"])
def test_it_need_not_be_asked(start: Start, cogvault: Cogvault, folder: Path, way: str) -> None:
    start()
    options, env = (["--no-daemon"], {}) if way == "option" else ([], {"COGVAULT_DAEMON": "off"})
    assert cogvault("search", "Redis table", "--tenant", folder, *options, env=env).returncode == 0
    assert f"vault {folder}" not in cogvault("daemon", "--status").stdout


@pytest.mark.parametrize("options", [(), ("--budget", "4000")])
def test_nothing_heavy_is_imported(
    start: Start, folder: Path, environment: Mapping[str, str], options: tuple[str, ...]
) -> None:
    start()
    heavy = ("numpy", "pydantic", "tantivy", "regex", "yaml", "cogvault.vault", "rich")
    code = (
        "import sys; from cogvault_cli.main import cli\n"
        "try: cli.main(['search', 'Redis table', '--json', '--tenant', *sys.argv[1:]])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(folder), *options]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True)
    assert '"project_queue.md"' in told.stdout
    assert told.stdout.splitlines()[-1] == "[]"


def test_other_settings_are_said_once_and_the_work_is_done_here(start: Start, cogvault: Cogvault, folder: Path) -> None:
    start()
    told = cogvault("search", "Redis table", "--half-life", "30", "--json", "--tenant", folder)
    assert told.returncode == 0
    assert told.stderr.count("working without the daemon") == 1
    assert "half_life_days" in told.stderr
    assert '"project_queue.md"' in told.stdout


def test_a_daemon_that_crashed_is_no_word_worth(start: Start, cogvault: Cogvault, folder: Path, runtime: Path) -> None:
    process = start()
    process.kill()
    process.wait()
    assert socket_path(runtime).is_socket()
    told = cogvault("search", "Redis table", "--tenant", folder)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [("show", "no-such.md"), ("search", "x", "--after", "noon"), ("ls", "../x")])
def test_errors_are_those_of_a_vault_here(
    start: Start, cogvault: Cogvault, folder: Path, arguments: tuple[str, ...]
) -> None:
    start()
    through, here = (cogvault(*arguments, "--tenant", folder, *more) for more in ((), ("--no-daemon",)))
    assert (through.returncode, through.stderr) == (here.returncode, here.stderr)
    assert through.returncode in (2, 3)


def test_a_folder_that_is_not_there(start: Start, cogvault: Cogvault, tmp_path: Path) -> None:
    start()
    told = cogvault("search", "x", "--tenant", tmp_path / "nowhere")
    assert told.returncode == 3
    assert "no such folder" in told.stderr


def test_a_client_goes_on_after_a_restart(start: Start, folder: Path, ask: Ask) -> None:
    first = start()
    vault = ask(folder)
    vault.record("Written before the restart.")
    first.terminate()
    assert first.wait(30) == 0
    start()
    assert vault.record("Written after the restart.").is_done
    assert len(vault.list()) == 5


@pytest.mark.parametrize("change", ["version", "settings"])
def test_a_daemon_of_another_kind_in_its_place_does_nothing(
    change: str, folder: Path, ask: Ask, runtime: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with House() as house, serving(house, runtime) as endpoint:
        vault = ask(folder, endpoint=endpoint)
    if change == "version":
        monkeypatch.setattr("cogvault_cli.daemon.app.__version__", "99.0.0")
    else:
        monkeypatch.setenv("COGVAULT_HALF_LIFE_DAYS", "7")
    with House() as house, serving(house, runtime) as endpoint:
        with pytest.raises(Replaced, match=r"99\.0\.0|other settings: half_life_days"):
            vault.record("A fact for a daemon that reads it otherwise.")
        with pytest.raises(Replaced):
            vault.search("Redis")
    assert len(list(folder.glob("*.md"))) == 3


def test_a_write_whose_answer_is_lost_is_not_done_again(start: Start, folder: Path, ask: Ask) -> None:
    """The daemon is killed at any moment of a write: there is one card or none, and never two."""
    process = start()
    vault = ask(folder)
    written, lost = 0, 0
    for number in range(200):
        if number == 20:
            process.kill()
        try:
            vault.record(f"Card number {number} of many.")
            written += 1
        except DaemonError:
            lost += 1
            if lost == 3:
                break
    assert written >= 20
    wait_until(lambda: process.poll() is not None, "it was killed")
    on_disk = len(list(folder.glob("note_card-number-*.md")))
    assert written <= on_disk <= written + 1


def test_a_batch_of_nothing_but_refused_items_asks_nobody() -> None:
    vault = RemoteVault(Path("vault"), Connection(Endpoint(socket="no such socket")))
    [done] = vault.record_many([Draft("x", title=5)])  # type: ignore[arg-type]
    assert not done.is_done
    with pytest.raises(NobodyListens):
        vault.record_many([Draft("A fact.")])
