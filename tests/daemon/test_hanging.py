"""A daemon that hangs holds nobody for long, and nothing is done twice because of it."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from cogvault import Config, Vault
from cogvault.client import Endpoint, RemoteVault, connect
from cogvault.client import connection as client_connection
from cogvault.client import http as client_http
from cogvault.client.connection import Unresponsive
from cogvault.client.endpoint import socket_path
from cogvault_mcp.memory import Memory
from cogvault_mcp.server import create_server
from tests.daemon.conftest import Ask, Cogvault, Start, wait_until


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that suspect after a tenth of a second, or one, what else they do after five, or ten."""
    monkeypatch.setattr(client_http, "_SILENT_SECONDS", 0.1)
    monkeypatch.setattr(client_http, "_STEP_SECONDS", 1.0)
    monkeypatch.setattr(client_connection, "_SIGN_OF_LIFE_SECONDS", 0.5)


@pytest.fixture
def stopped(start: Start, folder: Path, ask: Ask) -> Iterator[tuple[RemoteVault, Popen[str]]]:
    """A vault whose daemon hangs since it was opened."""
    process = start()
    vault = ask(folder)
    process.send_signal(signal.SIGSTOP)
    yield vault, process
    process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("kept", [True, False])
def test_a_question_is_given_up(stopped: tuple[RemoteVault, Popen[str]], kept: bool) -> None:
    vault, process = stopped
    if not kept:
        vault.close()
    with pytest.raises(Unresponsive, match="hangs"):
        vault.search("Redis")
    process.send_signal(signal.SIGCONT)
    assert len(vault.search("Redis table")) == 1


def test_a_long_call_is_given_up_too(stopped: tuple[RemoteVault, Popen[str]]) -> None:
    vault, _ = stopped
    with pytest.raises(Unresponsive):
        vault.sync()


@pytest.mark.parametrize("kept", [True, False])
def test_a_write_that_was_given_up_is_not_done_when_it_goes_on(
    stopped: tuple[RemoteVault, Popen[str]], folder: Path, kept: bool
) -> None:
    vault, process = stopped
    if not kept:
        vault.close()
    with pytest.raises(Unresponsive) as told:
        vault.update("user_ana.md", append="Written late.")
    assert told.value.hint is not None
    assert "look whether it was done" in told.value.hint
    process.send_signal(signal.SIGCONT)
    vault.record("Written after that.")
    vault.sync()
    assert "late" not in (folder / "user_ana.md").read_text()


def test_a_write_that_it_does_not_even_take_is_given_up_too(
    stopped: tuple[RemoteVault, Popen[str]], folder: Path
) -> None:
    vault, process = stopped
    with pytest.raises(Unresponsive) as told:
        vault.update("user_ana.md", append="Written late. " * 100_000)
    assert told.value.hint is not None
    assert "look whether it was done" in told.value.hint
    process.send_signal(signal.SIGCONT)
    vault.sync()
    assert "late" not in (folder / "user_ana.md").read_text()


def test_one_that_works_for_long_is_waited_for(
    endpoint: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says who it is meanwhile."""
    asked, may_end = threading.Event(), threading.Event()
    search, check = Vault.search, client_connection.Connection._check_alive  # noqa: SLF001

    def slow(self: Vault, *args: Any, **options: Any) -> Any:
        assert may_end.wait(60)
        return search(self, *args, **options)

    def note(self: client_connection.Connection) -> None:
        check(self)
        asked.set()

    monkeypatch.setattr(Vault, "search", slow)
    monkeypatch.setattr(client_connection.Connection, "_check_alive", note)
    found: list[int] = []
    vault = connect(folder, endpoint=endpoint)
    assert vault is not None
    with vault:
        vault.sync()
        waiting = threading.Thread(target=lambda: found.append(len(vault.search("Redis table"))))
        waiting.start()
        assert asked.wait(60)
        may_end.set()
        waiting.join(60)
    assert found == [1]


def test_an_mcp_server_answers_without_it_and_says_so_once(
    stopped: tuple[RemoteVault, Popen[str]], folder: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    remote, _ = stopped
    config = Config(model="none", index_dir=tmp_path / "own")
    memory = Memory(lambda: Vault(folder, config), lambda: remote)

    async def recall() -> list[str]:
        async with Client(create_server(lambda context: memory)) as client:
            answers = [await client.call_tool("cogvault_recall", {"query": "Redis table"}) for _ in range(3)]
            return [str(answer.content[0].text) for answer in answers]  # type: ignore[union-attr]

    with memory:
        assert all("project_queue.md" in text for text in anyio.run(recall))
    assert [one.message.split(":")[0] for one in caplog.records if one.name == "cogvault_mcp.server"] == [
        "working without the daemon"
    ]


def test_an_mcp_server_does_not_write_again_without_it(
    stopped: tuple[RemoteVault, Popen[str]], folder: Path, tmp_path: Path
) -> None:
    remote, process = stopped
    memory = Memory(lambda: Vault(folder, Config(model="none", index_dir=tmp_path / "own")), lambda: remote)

    async def record() -> tuple[bool, str, bool]:
        async with Client(create_server(lambda context: memory)) as client:
            first = await client.call_tool("cogvault_record", {"content": "The lamp is green."})
            second = await client.call_tool("cogvault_record", {"content": "The door is blue."})
            return bool(first.is_error), str(first.structured_content), bool(second.is_error)

    with memory:
        is_error, told, is_error_then = anyio.run(record)
    assert (is_error, is_error_then) == (True, False)
    assert "look whether it was done" in told
    process.send_signal(signal.SIGCONT)
    remote.sync()
    written = [path.read_text() for path in folder.glob("*.md")]
    assert not any("green" in text for text in written)
    assert sum("blue" in text for text in written) == 1


def test_status_and_commands_do_without_it(
    stopped: tuple[RemoteVault, Popen[str]], cogvault: Cogvault, folder: Path
) -> None:
    told = cogvault("daemon", "--status")
    assert told.returncode == 3
    assert "gave no answer" in told.stderr
    told = cogvault("search", "Redis table", "--tenant", folder)
    assert (told.returncode, told.stderr.count("working without the daemon")) == (0, 1)
    assert "project_queue.md" in told.stdout


def test_a_listener_that_is_mute_is_no_daemon(runtime: Path, folder: Path, environment: object) -> None:
    """It takes every connection and says nothing."""
    runtime.mkdir(mode=0o700)
    taken: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(socket_path(runtime)))
        mute.listen()

        def take() -> None:
            while True:
                try:
                    taken.append(mute.accept()[0])
                except OSError:
                    return

        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        with pytest.raises(Unresponsive):
            connect(folder)
        wait_until(lambda: taken, "it took the connection")
        mute.shutdown(socket.SHUT_RDWR)
        taker.join(20)
    for one in taken:
        one.close()
