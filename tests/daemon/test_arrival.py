"""A request has to arrive as a whole in time: half-sent ones neither wait for ever nor fill the queue for good."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.client import Endpoint, connect
from cogvault.client.connection import Connection
from cogvault.errors import DaemonError
from cogvault_cli.daemon.house import House
from cogvault_cli.daemon.protocol import ARRIVAL_SECONDS, HurriedProtocol
from tests.daemon.conftest import Ask, serving, wait_until

HEAD = b"POST /v1/vault/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
PARTS = {"nothing": b"", "half a line": b"POST /v1/va", "half a head": HEAD[:40], "half a body": HEAD + b'{"tenant": "'}
QUEUE = 4


@pytest.fixture
def hurried(house: House, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(HurriedProtocol, "arrival_seconds", 0.5)
    with serving(house, runtime, max_queue=QUEUE) as endpoint:
        yield endpoint


def _connect(endpoint: Endpoint) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(endpoint.socket)
    return client


@pytest.mark.parametrize("part", PARTS)
def test_what_does_not_arrive_is_not_waited_for(hurried: Endpoint, part: str) -> None:
    with _connect(hurried) as client:
        client.sendall(PARTS[part])
        assert not _rest(client)


def test_a_byte_now_and_then_is_no_arrival(hurried: Endpoint) -> None:
    with _connect(hurried) as client:
        client.settimeout(0.1)
        for byte in HEAD[:-2] * 100:
            try:
                client.sendall(bytes([byte]))
                assert client.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                pass
            return
    pytest.fail("it was waited for")


def test_a_kept_connection_has_to_bring_its_next_request_too(hurried: Endpoint) -> None:
    with _connect(hurried) as client:
        client.sendall(b"GET /v1/hello HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += client.recv(65536)
        client.sendall(HEAD)
        assert not _rest(client)


def _rest(client: socket.socket) -> bytes:
    """All that still comes before the other side closes."""
    parts = b""
    try:
        while part := client.recv(65536):
            parts += part
    except ConnectionResetError:
        pass
    return parts


def test_half_sent_calls_fill_the_queue_for_a_moment_only(hurried: Endpoint, folder: Path, ask: Ask) -> None:
    vault = ask(folder, endpoint=hurried)
    connection = Connection(hurried)
    with ExitStack() as stack:
        stack.callback(connection.close)
        for _ in range(QUEUE):
            stack.enter_context(_connect(hurried)).sendall(HEAD)

        def finds() -> bool:
            try:
                return len(vault.search("Redis table")) == 1
            except DaemonError:
                return False

        wait_until(finds, "searches find room in the queue")
        wait_until(lambda: connection.call("/v1/status")["queue"] == 0, "nothing waits any more")


def test_a_call_that_arrived_may_take_longer(hurried: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the arrival is limited, not the work."""
    search = Vault.search

    def slow(self: Vault, *args: object, **options: object) -> object:
        time.sleep(1.0)  # twice what an arrival may take
        return search(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Vault, "search", slow)
    vault = connect(folder, endpoint=hurried)
    assert vault is not None
    with vault:
        vault.sync()
        assert len(vault.search("Redis table")) == 1


def test_the_limit_is_far_above_what_a_large_card_takes() -> None:
    assert HurriedProtocol.arrival_seconds == ARRIVAL_SECONDS >= 5
