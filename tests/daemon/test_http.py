"""The HTTP interface: whatever is sent, the answer is a typed one."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from prometheus_client.parser import text_string_to_metric_families
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from cogvault import Vault, __version__
from cogvault.client import Endpoint
from cogvault.client.connection import Connection
from cogvault.errors import DaemonError, VaultError
from cogvault_cli.daemon.app import create_app
from cogvault_cli.daemon.house import House
from cogvault_cli.daemon.methods import METHODS
from tests.daemon.conftest import Ask, serving, wait_until, write_cards


@pytest.fixture
def send(endpoint: Endpoint) -> Any:
    """Send bytes to a path; status and JSON of the answer."""

    def call(path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(endpoint.socket)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    return call


def test_the_document_is_valid_openapi(endpoint: Endpoint) -> None:
    document = json.loads(_get(endpoint, "/openapi.json")[1])
    assert document["openapi"].startswith("3.1")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert "/v1/vault/search" in document["paths"]
    assert all(operation["post"]["summary"] for path, operation in document["paths"].items() if "/vault/" in path)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"\xff", 400),
        (b"[" * 100_000, 400),
        (b'{"tenant": "TENANT", "query": "x", "k": ' + b"9" * 5000 + b"}", 400),
        (b'{"tenant": "TENANT", "query": "x", "k": 1000000000000000000000000}', 422),
        (b'{"tenant": "TENANT", "query": "x", "min_score": NaN}', 422),
        (b'{"tenant": "TENANT", "query": "x", "min_score": 1e999}', 422),
        (b'{"tenant": "TENANT", "query": "x", "where": {"a": NaN}}', 422),
        (b'{"tenant": "TENANT", "query": "x", "path": "a\\u0000b"}', 404),
        (b'{"tenant": "TENANT", "query": "x", "unknown": 1}', 422),
        (b'{"tenant": "TENANT\\u0000", "query": "x"}', 422),
        (b'{"tenant": "relative", "query": "x"}', 422),
        (b'{"tenant": "", "query": "x"}', 422),
        (b'{"tenant": "/no/such/folder", "query": "x"}', 422),
        (b'{"query": "x"}', 422),
        (b'{"tenant": null, "query": "x"}', 422),
        (b'{"tenant": ["TENANT"], "query": "x"}', 422),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(send: Any, folder: Path, body: bytes, status: int) -> None:
    answered, document = send("/v1/vault/search", body.replace(b"TENANT", str(folder).encode()))
    assert (answered, set(document)) == (status, {"error"})
    assert document["error"]["kind"] in ("QueryError", "VaultError", "PathError")
    assert document["error"]["message"]


def test_paths_and_methods_that_there_are_not(send: Any) -> None:
    assert send("/v1/vault/no-such", b"{}")[0] == 404
    assert send("/v1/vault/search/", b"{}")[0] == 404
    assert send("/v1/hello", b"{}")[0] == 405


@pytest.mark.parametrize("headers", [{"Content-Length": str(1 << 40)}, {"Content-Length": "٣"}])
def test_a_request_that_is_too_large_is_not_read(endpoint: Endpoint, headers: dict[str, str]) -> None:
    lines = [b"POST /v1/vault/search HTTP/1.1", b"Host: x", *(f"{name}: {v}".encode() for name, v in headers.items())]
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(endpoint.socket)
        client.sendall(b"\r\n".join([*lines, b"", b""]))
        assert client.recv(100).split()[1] in (b"413", b"400")


def test_a_stream_that_did_not_say_how_long_it_is_is_cut(endpoint: Endpoint) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(endpoint.socket)
        client.settimeout(20)
        client.sendall(b"POST /v1/vault/search HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
        client.sendall(chunk * 40 + b"0\r\n\r\n")
        assert client.recv(100).split()[1] == b"413"


def test_figures_can_be_parsed_and_count(endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    vault = ask(folder, endpoint=endpoint)
    vault.search("Redis")
    with pytest.raises(VaultError):
        vault.read("no-such.md")
    text = _get(endpoint, "/metrics")[1]
    found = {
        (sample.name, sample.labels.get("call"), sample.labels.get("status")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["cogvault_requests_total", "search", "200"] == 1
    assert found["cogvault_requests_total", "read", "404"] == 1
    assert found["cogvault_vaults", None, None] == 1
    assert found["cogvault_queue", None, None] == 0
    assert found["process_resident_memory_bytes", None, None] > 0


def _get(endpoint: Endpoint, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(endpoint.socket)
    connection.request("GET", path)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_health_searches_and_fails_when_an_index_is_broken(
    endpoint: Endpoint, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    for vault_folder in (folder, write_cards(tmp_path / "second")):
        vault = ask(vault_folder, endpoint=endpoint)
        vault.sync()
    status, text = _get(endpoint, "/health")
    assert (status, json.loads(text)["status"]) == (200, "ok")
    assert [(one["status"], one["reason"]) for one in json.loads(text)["vaults"]] == [("ok", "")] * 2
    break_index(tmp_path / "indexes", folder)
    status, text = _get(endpoint, "/health")
    assert status == 503, text
    told = {one["path"]: one["status"] for one in json.loads(text)["vaults"]}
    assert told[str(folder)] in ("failed", "stale")
    assert ask(folder, endpoint=endpoint).search("Redis table")
    assert _get(endpoint, "/health")[0] == 200  # an index is made anew from the files


def break_index(indexes: Path, folder: Path) -> None:
    """Overwrite every file of one vault's index."""
    [index] = [found for found in indexes.iterdir() if found.name.startswith(folder.name)]
    for file in [found for found in index.rglob("*") if found.is_file()]:
        file.write_bytes(b"\xff" * file.stat().st_size)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Semaphore, threading.Event]]:
    """Searches that say when they have begun, and wait until they may end."""
    begun, may_end = threading.Semaphore(0), threading.Event()
    search = Vault.search

    def wait(self: Vault, *args: Any, **options: Any) -> Any:
        begun.release()
        assert may_end.wait(60)
        return search(self, *args, **options)

    monkeypatch.setattr(Vault, "search", wait)
    yield begun, may_end
    may_end.set()


def test_one_call_too_many_is_turned_away(
    house: House, runtime: Path, folder: Path, slow: tuple[threading.Semaphore, threading.Event], ask: Ask
) -> None:
    begun, may_end = slow
    with serving(house, runtime, max_queue=2) as endpoint:
        vault = ask(folder, endpoint=endpoint)
        searches = [threading.Thread(target=vault.search, args=("Redis",)) for _ in range(2)]
        for thread in searches:
            thread.start()
        for _ in searches:
            assert begun.acquire(timeout=30)
        with pytest.raises(DaemonError, match="2 calls wait already"):
            vault.search("Redis")
        told = json.loads(_get(endpoint, "/v1/status")[1])  # asking how it is works all the same
        assert told["queue"] == 2
        may_end.set()
        for thread in searches:
            thread.join(30)
        vault.search("Redis")


def test_calls_that_run_are_finished_before_it_ends(
    house: House, runtime: Path, folder: Path, slow: tuple[threading.Semaphore, threading.Event], ask: Ask
) -> None:
    begun, may_end = slow
    found: list[int] = []
    with serving(house, runtime) as endpoint:
        vault = ask(folder, endpoint=endpoint)
        search = threading.Thread(target=lambda: found.append(len(vault.search("Redis table"))))
        search.start()
        assert begun.acquire(timeout=30)
        connection = Connection(endpoint)
        assert connection.call("/v1/stop", {}) == {"stopping": True}
        connection.close()
        wait_until(lambda: _is_refused(endpoint), "nobody new is let in")
        may_end.set()
        search.join(30)
    assert found == [1]


def _is_refused(endpoint: Endpoint) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(endpoint.socket) != 0


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("name", [*(method.name for method in METHODS), "hook"])
def test_whatever_the_document_allows_or_forbids_meets_no_defect(
    house: House, folder: Path, name: str, mode: GenerationMode
) -> None:
    """Schemathesis makes requests from /openapi.json, and others that just do not fit it."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(house, lambda: None))

    @given(case=schema[f"/v1/vault/{name}"]["POST"].as_strategy(generation_mode=mode))
    @settings(max_examples=10, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        known = {"tenant": str(folder), "version": __version__}  # what chance does not find
        for field in known.keys() & (case.body.keys() if isinstance(case.body, dict) else ()):
            if isinstance(case.body[field], str):
                case.body[field] = known[field]
        answer = case.call()
        case.validate_response(answer, checks=[not_a_server_error, status_code_conformance, content_type_conformance])

    check()


def test_a_hook_asks_once_and_only_its_own_version(send: Any, endpoint: Endpoint, folder: Path, ask: Ask) -> None:
    ask(folder, endpoint=endpoint)
    asked: dict[str, Any] = {
        "tenant": str(folder),
        "environment": {name: value for name, value in os.environ.items() if name.startswith("COGVAULT_")},
        "version": __version__,
        "event": "prompt",
        "prompt": "the job queue in a table of Redis",
    }
    status, told = send("/v1/vault/hook", json.dumps(asked).encode())
    assert (status, told["ids"]) == (200, ["project_queue.md"])
    assert "moved from Redis into a table" in told["text"]
    status, told = send("/v1/vault/hook", json.dumps({**asked, "seen": told["ids"]}).encode())
    assert (status, told) == (200, {"text": "", "ids": []})
    status, told = send("/v1/vault/hook", json.dumps({**asked, "event": "session-start"}).encode())
    assert status == 200
    assert told["text"].startswith("Long-term memory (cogvault): 3 cards")
    status, told = send("/v1/vault/hook", json.dumps({**asked, "version": "0.0.1"}).encode())
    assert status == 409
    changed = {**asked["environment"], "COGVAULT_HALF_LIFE_DAYS": "3"}
    status, told = send("/v1/vault/hook", json.dumps({**asked, "environment": changed}).encode())
    assert status == 409
    assert "half_life_days" in told["error"]["message"]


def test_a_crowd_of_searches_keeps_nothing_else_from_beginning(
    endpoint: Endpoint, folder: Path, slow: tuple[threading.Semaphore, threading.Event], ask: Ask
) -> None:
    begun, may_end = slow
    vault = ask(folder, endpoint=endpoint)
    searches = [threading.Thread(target=lambda: vault.search("Redis")) for _ in range(60)]
    for search in searches:
        search.start()
    assert begun.acquire(timeout=30)
    wait_until(lambda: json.loads(_get(endpoint, "/v1/status")[1])["queue"] == 60, "all searches wait or run")
    assert vault.record("Tea is in the blue tin.", title="Tea").action == "created"
    assert vault.sync().status == "ok"
    may_end.set()
    for search in searches:
        search.join(30)
