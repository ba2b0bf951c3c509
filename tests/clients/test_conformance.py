"""The conformance suite of the Model Context Protocol, for what a memory server offers.

Its other scenarios ask for optional features (completion, subscriptions, log levels) or for tools of its own names.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

SECONDS = 60.0
TOKEN = "t" * 32
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens at port {port}")


def relay(own: int, server: int) -> Starlette:
    """Adds the token, which the suite cannot send; host and origin pass as the suite wrote them."""
    client = httpx.AsyncClient(timeout=SECONDS)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    async def pass_on(request: Request) -> StreamingResponse:
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        headers["host"] = headers["host"].replace(f":{own}", f":{server}")
        headers["authorization"] = f"Bearer {TOKEN}"
        asked = client.build_request(
            request.method, f"http://127.0.0.1:{server}/mcp", headers=headers, content=await request.body()
        )
        answer = await client.send(asked, stream=True)
        kept = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return StreamingResponse(answer.aiter_raw(), answer.status_code, kept, background=BackgroundTask(answer.aclose))

    return Starlette(routes=[Route("/mcp", pass_on, methods=["GET", "POST", "DELETE"])], lifespan=lifespan)


@contextmanager
def relaying(server: int) -> Iterator[int]:
    port = free_port()
    web = uvicorn.Server(uvicorn.Config(relay(port, server), port=port, log_level="critical"))
    thread = threading.Thread(target=web.run)
    thread.start()
    try:
        wait_for(port)
        yield port
    finally:
        web.should_exit = True
        thread.join(SECONDS)


@pytest.fixture
def url(user: Mapping[str, str], example_vault: Path) -> Iterator[str]:
    """Where the suite reaches the server."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "cogvault_mcp", "--tenant", str(example_vault), "--http", f"127.0.0.1:{port}"],
        env={**user, "COGVAULT_TOKEN": TOKEN},
    )
    try:
        wait_for(port)
        with relaying(port) as own:
            yield f"http://127.0.0.1:{own}/mcp"
    finally:
        process.terminate()
        process.wait(SECONDS)


def test_the_server_passes(programs: Path, user: Mapping[str, str], url: str) -> None:
    for scenario in SCENARIOS:
        done = subprocess.run(
            [programs / "conformance", "server", "--url", url, "--scenario", scenario],
            env=user,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        told = re.search(r"Passed: (\d+)/(\d+), (\d+) failed", done.stdout)
        assert told, (scenario, done.stdout, done.stderr)
        passed, checks, failed = map(int, told.groups())
        assert passed == checks > 0 == failed, (scenario, done.stdout)
