"""The server over HTTP: tokens, tenants, origins."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import httpx
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cogvault.errors import ConfigError
from cogvault_mcp import http as served_http
from cogvault_mcp.memory import Memory
from cogvault_mcp.tenants import read_tokens
from tests.mcp.raw import LATEST, SECONDS, environment

TOKENS = {"ana": "a" * 32, "bo": "b" * 32}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": LATEST, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Served:
    """A server of two tenants."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    lines = []
    for name, token in TOKENS.items():
        (folder / name).mkdir()
        (folder / name / "secret.md").write_text(f"# Secret\n\nThe door code of {name} is in the blue folder.\n")
        lines.append(f'[tenants.{name}]\ntoken = "{token}"\npath = "{folder / name}"\n')
    file = folder / "tokens.toml"
    file.write_text("\n".join(lines))
    file.chmod(0o600)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "cogvault_mcp", "--http", f"127.0.0.1:{port}", "--token-file", str(file)),
                *("--allow-host", "Memory.example.com", "--allow-host", "10.0.0.7"),
            ],
            env=environment(folder, COGVAULT_MODEL="none"),
            stderr=errors,
        )
    end = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield Served(f"http://127.0.0.1:{port}/mcp", folder)
    process.terminate()
    assert process.wait(SECONDS) in (0, -15)


def ask(served: Served, tool: str, token: str, **arguments: object) -> str:
    async def run() -> str:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            result = await client.call_tool(tool, dict(arguments))
            return str(result.content[0].text)  # type: ignore[union-attr]

    return anyio.run(run)


def test_a_token_opens_its_own_vault_only(served: Served) -> None:
    for name, other in (("ana", "bo"), ("bo", "ana")):
        text = ask(served, "cogvault_recall", TOKENS[name], query="door code blue folder")
        assert f"door code of {name}" in text
        assert f"door code of {other}" not in text


def test_what_one_tenant_records_no_other_recalls(served: Served) -> None:
    ask(served, "cogvault_record", TOKENS["ana"], content="The marmot sleeps at noon.", title="Marmot")
    assert "marmot sleeps" in ask(served, "cogvault_recall", TOKENS["ana"], query="marmot sleeps")
    assert "marmot sleeps" not in ask(served, "cogvault_recall", TOKENS["bo"], query="marmot sleeps")


def test_no_answer_tells_where_a_vault_that_went_away_was(served: Served) -> None:
    ask(served, "cogvault_recall", TOKENS["bo"], query="door code")
    here, away = served.folder / "bo", served.folder / "away"
    here.rename(away)
    try:
        said = [
            ask(served, "cogvault_recall", TOKENS["bo"], query="door code"),
            ask(served, "cogvault_read", TOKENS["bo"], id="secret.md"),
            ask(served, "cogvault_browse", TOKENS["bo"], sync=True),
            ask(served, "cogvault_record", TOKENS["bo"], content="The code is 17."),
        ]
    finally:
        away.rename(here)
    assert "the vault: the vault's folder does not exist" in said[1]
    assert [text for text in said if str(served.folder.parent) in text or "tmp" in text] == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKENS['ana']}"},
        {"Authorization": f"Bearer {TOKENS['ana'][:-1]}"},
        {"Authorization": f"Bearer {TOKENS['ana']} {TOKENS['bo']}"},
        {"Cookie": f"token={TOKENS['ana']}"},
    ],
)
def test_without_a_known_token_nothing_is_answered(served: Served, headers: dict[str, str]) -> None:
    for method, path in (
        ("POST", ""),
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/../x"),
        ("GET", "?token=" + TOKENS["ana"]),
    ):
        answer = httpx.request(method, served.url + path, headers={**ACCEPT, **headers}, json=HELLO)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "memory.example.com"},
        {"Host": "memory.example.com:8443", "Origin": "https://memory.example.com:8443"},
        {"Host": "memory.example.com", "Origin": "https://memory.example.com"},
        {"Host": "10.0.0.7:80"},
        {"Host": "LOCALHOST:1", "Origin": "http://[::1]"},
    ],
)
def test_a_proxy_may_pass_a_name_that_was_allowed(served: Served, headers: dict[str, str]) -> None:
    bearing = {**ACCEPT, "Authorization": f"Bearer {TOKENS['ana']}", **headers}
    assert httpx.post(served.url, headers=bearing, json=HELLO).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Host": "memory.example.com.evil.example"},
        {"Host": "memory.example.com", "Origin": "https://evil.example"},
        {"Host": "localhost:1@evil.example"},
        {"Host": "127.0.0.1:80.evil.example"},
        {"Host": "localhost:port"},
        {"Origin": "http://localhost:1@evil.example"},
        {"Origin": "http://127.0.0.1:80.evil.example"},
        {"Origin": "file://localhost"},
        {"Origin": "null"},
    ],
)
def test_a_page_of_another_origin_is_refused(served: Served, headers: dict[str, str]) -> None:
    bearing = {**ACCEPT, "Authorization": f"Bearer {TOKENS['ana']}", **headers}
    assert httpx.post(served.url, headers=bearing, json=HELLO).status_code in (403, 421)


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_half_an_emoji_is_answered_over_http_as_well(served: Served, before: bytes) -> None:
    bearing = {**ACCEPT, "Authorization": f"Bearer {TOKENS['ana']}", "Content-Type": "application/json"}
    begun = httpx.post(served.url, headers=bearing, content=before + json.dumps(HELLO).encode())
    assert begun.status_code == 200
    session = {**bearing, "Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "MCP-Protocol-Version": LATEST}
    httpx.post(served.url, headers=session, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    arguments = {"query": "door code \ud83d"}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "cogvault_recall"}}
    call["params"]["arguments"] = arguments  # type: ignore[index]
    answer = httpx.post(served.url, headers=session, content=before + json.dumps(call).encode())
    assert answer.status_code == 200
    assert "blue folder" in answer.text


def test_a_body_that_is_too_large_or_no_json_is_refused(served: Served) -> None:
    bearing = {**ACCEPT, "Authorization": f"Bearer {TOKENS['ana']}", "Content-Type": "application/json"}
    large = httpx.post(served.url, headers=bearing, content=(b"x" * 1_000_000 for _ in range(6)))
    assert large.status_code == 413
    assert httpx.post(served.url, headers=bearing, content=b'{"half \\ud83d').status_code == 400


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no tenants"),
        ("tenants = 3", "no tenants"),
        ("[tenants.a]\ntoken = 'short'\npath = '/x'", "at least 16"),
        (f"[tenants.a]\ntoken = '{'a' * 20}'", "token and path"),
        (f"[tenants.a]\ntoken = '{'a' * 20}'\npath = '/x'\nroot = '/'", "token and path"),
        (
            f"[tenants.a]\ntoken = '{'a' * 20}'\npath = '/x'\n[tenants.b]\ntoken = '{'a' * 20}'\npath = '/y'",
            "same token",
        ),
        ("[tenants", "no TOML"),
        (f"[tenants.a]\ntoken = '{'a' * 20}'\npath = ''", "no vault was named"),
        (f"[tenants.a]\ntoken = '{'a' * 20}'\npath = 'memory'", "no whole path"),
        (f"[tenants.a]\ntoken = '{'a' * 20}'\npath = '~nobody-at-all/memory'", "no such home"),
        (f"[tenants.a]\ntoken = '{'a ' * 20}'\npath = '/x'", "without spaces"),
    ],
)
def test_a_token_file_that_is_wrong_is_refused(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ConfigError, match=told):
        read_tokens(file)


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(f"[tenants.a]\ntoken = '{'a' * 20}'\npath = '/x'")
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="others can read"):
        read_tokens(file)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 2, "no vault was named"),
        (["--tenant", ".", "--http", "192.0.2.1:8765"], 2, "cannot listen on 192.0.2.1:8765"),
        (["--tenant", ".", "--http", f"{'x' * 70}:8765"], 2, "choose another port"),
        (["--tenant", ""], 2, "no vault was named"),
        (["--tenant", "/nowhere/at/all"], 3, "no such folder"),
        (["--http", "here", "--tenant", "."], 2, "not an address"),
        (["--http", "127.0.0.1:0", "--tenant", "."], 2, "not an address"),
        (["--tenant", "~nobody-at-all/memory"], 2, "no such home"),
        (["--tenant", ".", "--mmr", "7"], 2, "not between 0 and 1"),
        (["--tenant", ".", "--half-life", "nan"], 2, "not between"),
        (["--tenant", ".", "-k", "0"], 2, "not between 1 and 50"),
        (["--tenant", ".", "-k", "1.5"], 2, "invalid"),
        (["--token-file", "tokens.toml"], 2, "say --http"),
        (["--tenant", ".", "--allow-host", "memory.example.com"], 2, "say --http"),
        (
            ["--tenant", ".", "--http", "127.0.0.1:8765", "--allow-host", "https://memory.example.com"],
            2,
            "no host name",
        ),
        (["--tenant", ".", "--http", "127.0.0.1:8765", "--allow-host", "*"], 2, "no host name"),
        (["--token-file", "tokens.toml", "--http", "127.0.0.1:8765", "--tenant", "."], 2, "leave out --tenant"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(home: Path, arguments: list[str], code: int, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogvault_mcp", *arguments],
        capture_output=True,
        text=True,
        env=environment(home),
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr


def test_a_token_that_is_easily_guessed_is_refused(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogvault_mcp", "--tenant", str(home), "--http", "127.0.0.1:8765"],
        capture_output=True,
        text=True,
        env=environment(home, COGVAULT_TOKEN="x"),
        check=False,
    )
    assert done.returncode == 2
    assert "at least 16" in done.stderr


def test_a_session_is_of_the_token_that_began_it(served: Served) -> None:
    with httpx.Client(timeout=SECONDS) as http:
        ana, bo = ({**ACCEPT, "Authorization": f"Bearer {TOKENS[name]}"} for name in TOKENS)
        session = {"mcp-session-id": http.post(served.url, json=HELLO, headers=ana).headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
        assert http.post(served.url, json=ping, headers={**bo, **session}).status_code == 404
        assert http.delete(served.url, headers={**bo, **session}).status_code == 404
        assert http.post(served.url, json=ping, headers={**ana, **session}).status_code == 200
        assert http.delete(served.url, headers={**ana, **session}).status_code == 200
        assert http.post(served.url, json=ping, headers={**ana, **session}).status_code == 404


def test_sessions_that_nobody_ends_are_known_up_to_a_number_and_those_used_last_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(served_http, "_MAX_SESSIONS", 3)
    begun = iter(f"s{number}".encode() for number in range(100))

    async def sdk(scope: Scope, receive: Receive, send: Send) -> None:
        named = any(name == b"mcp-session-id" for name, _ in scope["headers"])
        headers = [] if named else [(b"mcp-session-id", next(begun))]
        await Response(status_code=200, headers={name.decode(): value.decode() for name, value in headers})(
            scope, receive, send
        )

    gate = served_http.TokenGate(sdk, {"a" * 32: cast(Memory, object())})

    async def run() -> None:
        headers = {"Authorization": f"Bearer {'a' * 32}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate), base_url="http://t", headers=headers) as http:

            async def status(session: str) -> int:
                return (await http.post("/mcp", headers={"mcp-session-id": session})).status_code

            for _ in range(3):
                await http.post("/mcp")
            assert await status("s0") == 200
            await http.post("/mcp")
            assert [await status(f"s{number}") for number in range(4)] == [200, 404, 200, 200]
            for _ in range(50):
                await http.post("/mcp")
            assert len(gate._sessions) == 3  # noqa: SLF001

    anyio.run(run)


def test_a_port_that_another_has_is_said_and_not_told_to_clients(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", "cogvault_mcp", "--tenant", str(home), "--http", address],
            capture_output=True,
            text=True,
            env=environment(home),
            check=False,
        )
    assert done.returncode == 2
    assert f"cannot listen on {address}" in done.stderr
    assert f"http://{address}/mcp" not in done.stderr
