"""The client's HTTP, against answers in pieces and answers that are none; and whom it tells the token."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogvault.client import Endpoint, connect
from cogvault.client.connection import Connection, NobodyListens
from cogvault.client.endpoint import ENDPOINT_FILE
from cogvault.client.http import Broken, Closed, Wire

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture
def pair() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Wire(ours, "localhost"), theirs


def test_a_request_and_its_answer(pair: tuple[Wire, socket.socket]) -> None:
    wire, other = pair
    other.sendall(OK)
    assert wire.ask("/v1/x", b"{}", {"Authorization": "Bearer t"}, 5) == (200, b"hello")
    assert other.recv(4096) == (
        b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    other.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nConnection: close\r\n\r\n")
    assert wire.ask("/v1/y", None, {}, 5) == (404, b"")
    assert other.recv(4096) == b"GET /v1/y HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert not wire.is_open


def test_an_answer_may_come_byte_by_byte(pair: tuple[Wire, socket.socket]) -> None:
    wire, other = pair

    def send() -> None:
        for number in range(len(OK)):
            other.sendall(OK[number : number + 1])

    sender = threading.Thread(target=send)
    sender.start()
    assert wire.ask("/", None, {}, 5) == (200, b"hello")
    sender.join(5)
    assert wire.is_quiet()


def test_an_answer_without_a_length_ends_with_the_connection(pair: tuple[Wire, socket.socket]) -> None:
    wire, other = pair
    other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\nno")
    other.shutdown(socket.SHUT_WR)
    assert wire.ask("/", None, {}, 5) == (400, b"no")
    assert not wire.is_open


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 \xff\xff\xff\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_answer_is_an_error(pair: tuple[Wire, socket.socket], answer: bytes) -> None:
    wire, other = pair

    def send() -> None:
        other.sendall(answer)
        other.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(Broken):
        wire.ask("/", None, {}, 5)
    assert not wire.is_open
    sender.join(5)


def test_one_that_closed_before_answering_is_told_apart(pair: tuple[Wire, socket.socket]) -> None:
    wire, other = pair
    assert wire.is_quiet()
    other.shutdown(socket.SHUT_WR)
    assert not wire.is_quiet()
    with pytest.raises(Closed):
        wire.ask("/", None, {}, 5)


def test_one_that_takes_too_long_is_given_up(pair: tuple[Wire, socket.socket]) -> None:
    wire, _ = pair
    with pytest.raises(TimeoutError):
        wire.ask("/", None, {}, 0.01)


@pytest.mark.parametrize("answer", [OK, b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"proof": "abc"}', b"", b"\0"])
def test_who_has_the_port_of_a_daemon_that_is_gone_is_not_told_the_token(
    answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGVAULT_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def listen() -> None:
            for _ in range(2):
                other, _ = stranger.accept()
                with other:
                    heard.append(other.recv(65536))
                    other.sendall(answer)

        listener = threading.Thread(target=listen)
        listener.start()
        told = {"host": "127.0.0.1", "port": stranger.getsockname()[1], "token": "a-secret-token", "pid": 1}
        (tmp_path / "run" / ENDPOINT_FILE).write_text(json.dumps(told))
        assert connect(tmp_path) is None
        endpoint = Endpoint(host="127.0.0.1", port=told["port"], token="a-secret-token")
        with pytest.raises(NobodyListens, match="token"):
            Connection(endpoint).call("/v1/open", {"tenant": "the-vault"})
        listener.join(10)
    assert len(heard) == 2
    for request in heard:
        assert b"secret" not in request
        assert b"vault" not in request
