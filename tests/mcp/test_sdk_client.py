"""A session of the SDK's own client with a server process, over standard input and output and over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from cogvault_mcp.server import TOOLS
from tests.mcp.raw import SECONDS, environment

TOKEN = "t" * 32
Session = Callable[[Client], Awaitable[None]]


@asynccontextmanager
async def over_stdio(vault: Path, home: Path) -> AsyncIterator[Client]:
    variables = environment(home, COGVAULT_MODEL="none")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "cogvault_mcp", "--tenant", str(vault)], env=variables
    )
    with Path(os.devnull).open("w") as errors:
        async with Client(stdio_client(server, errors)) as client:
            yield client


@asynccontextmanager
async def over_http(vault: Path, home: Path) -> AsyncIterator[Client]:
    """Whoever names only a port is served on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "cogvault_mcp", "--tenant", str(vault), "--http", str(port)],
        env=environment(home, COGVAULT_MODEL="none", COGVAULT_TOKEN=TOKEN),
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            await anyio.sleep(0.05)
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
        ):
            yield client
    finally:
        process.terminate()
        process.wait(SECONDS)


WAYS = {"stdio": over_stdio, "http": over_http}


@pytest.fixture(params=WAYS)
def session(request: pytest.FixtureRequest, example_vault: Path, home: Path) -> Callable[[Session], None]:
    """Runs a session with a server of the example vault."""

    def run(steps: Session) -> None:
        async def connected() -> None:
            with anyio.fail_after(SECONDS):
                async with WAYS[request.param](example_vault, home) as client:
                    await steps(client)

        anyio.run(connected)

    return run


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives as data, which the client has checked against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert result.structured_content is not None
    assert result.structured_content["text"] == result.content[0].text  # type: ignore[union-attr]
    return dict(result.structured_content)


def test_every_tool_works(session: Callable[[Session], None], example_vault: Path) -> None:
    async def steps(client: Client) -> None:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
        made = await call(client, "cogvault_record", content="The heron nests by the pond.", title="Heron")
        assert "heron" in (example_vault / made["id"]).read_text("utf-8")
        found = await call(client, "cogvault_recall", query="where does the heron nest")
        assert found["hits"][0]["id"] == made["id"]
        read = await call(client, "cogvault_read", id=made["id"])
        assert "by the pond" in read["text"]
        newer = await call(client, "cogvault_record", content="The heron moved to the lake.", title="Heron's lake")
        await call(client, "cogvault_revise", action="supersede", id=made["id"], new=newer["id"])
        found = await call(client, "cogvault_recall", query="where does the heron nest")
        assert {hit["id"]: hit["valid"] for hit in found["hits"]}[made["id"]] == "superseded"
        assert 'validity="superseded"' in found["text"]
        browsed = await call(client, "cogvault_browse", limit=200)
        assert {made["id"], newer["id"]} <= set(browsed["ids"])
        refused = await client.call_tool("cogvault_read", {"id": "../secret.md"})
        assert refused.is_error

    session(steps)


def test_every_resource_and_the_prompt_can_be_had(session: Callable[[Session], None], example_vault: Path) -> None:
    for number in range(150):
        (example_vault / f"many {number:03} % ř.md").write_text(f"# Card {number}\n\nText {number}.\n", "utf-8")

    async def steps(client: Client) -> None:
        await call(client, "cogvault_browse", sync=True)
        uris: dict[str, str] = {}
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris |= {resource.name: resource.uri for resource in page.resources}
            if (cursor := page.next_cursor) is None:
                break
        assert set(uris) == {path.name for path in example_vault.glob("*.md")}
        for name in list(uris)[::20]:
            (content,) = (await client.read_resource(uris[name])).contents
            assert (example_vault / name).read_text("utf-8").strip() in content.text  # type: ignore[union-attr]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "cogvault://{+path}"
        prompt = await client.get_prompt("remember", {"what": "the heron"})
        assert "the heron" in prompt.messages[0].content.text  # type: ignore[union-attr]

    session(steps)


def test_progress_only_rises(session: Callable[[Session], None], example_vault: Path) -> None:
    """What the protocol asks for, over all steps of a sync."""
    for number in range(40):
        (example_vault / f"many_{number}.md").write_text(f"# Many {number}\n\nText {number}.\n")
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def steps(client: Client) -> None:
        result = await client.call_tool("cogvault_browse", {"sync": True}, progress_callback=note)
        assert not result.is_error

    session(steps)
    assert told
    figures = [progress for progress, _, _ in told]
    assert figures == sorted(set(figures))
    assert all(total is not None and total >= progress for progress, total, _ in told)


def test_a_call_that_is_cancelled_leaves_no_lock(session: Callable[[Session], None], example_vault: Path) -> None:
    for number in range(400):
        (example_vault / f"many_{number}.md").write_text(f"# Many {number}\n\n" + f"word{number} and more. " * 300)

    async def steps(client: Client) -> None:
        started = anyio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            started.set()

        async def sync() -> None:
            await client.call_tool("cogvault_browse", {"sync": True}, progress_callback=note)

        async with anyio.create_task_group() as group:
            group.start_soon(sync)
            await started.wait()
            group.cancel_scope.cancel()
        made = await call(client, "cogvault_record", content="The heron nests by the pond.")
        assert (example_vault / made["id"]).exists()
        synced = await call(client, "cogvault_browse", sync=True)
        assert (synced["status"], synced["cards"]) == ("ok", len(list(example_vault.glob("*.md"))))

    session(steps)
