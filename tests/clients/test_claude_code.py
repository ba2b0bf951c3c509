"""Claude Code itself, with the plugin and a made-up model: what hooks say reaches the model, what was said is kept."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SECONDS = 120.0
TOOL = "mcp__plugin_cogvault_cogvault__cogvault_recall"
MARKED = re.compile(r'<(memory-[0-9a-f]{16}) source="project_queue-on-postgres.md#.*?</\1>', re.DOTALL)
PROMPT = "Are builds pushed to the registry from laptops?"
ANSWER = "Only the pipeline pushes them."


class Model(ThreadingHTTPServer):
    """Answers every request of the Messages API with one sentence; before it calls a tool when it is told so.

    Attributes:
        asked: bodies of all requests.
        query: what to recall, "" = nothing.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.query = ""


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        is_tool_there = TOOL in [tool["name"] for tool in body.get("tools", [])]
        query = self.server.query if is_tool_there and not results([body]) else ""
        events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(query))
        self._send("text/event-stream", events.encode())

    def do_GET(self) -> None:
        self._send("application/json", b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: standard error is the test's."""

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def results(asked: list[dict[str, Any]]) -> list[str]:
    """What tools answered, as the model is given it."""
    contents = [message["content"] for body in asked for message in body["messages"]]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


def _events(query: str) -> list[dict[str, Any]]:
    text: dict[str, Any] = {"type": "text", "text": ""}
    said: dict[str, Any] = {"type": "text_delta", "text": ANSWER}
    if query:
        text = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": {}}
        said = {"type": "input_json_delta", "partial_json": json.dumps({"query": query})}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "made-up",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "content_block_delta", "index": 0, "delta": said},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if query else "end_turn", "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def wait_for_daemon(environment: Mapping[str, str]) -> None:
    end = time.monotonic() + SECONDS
    while subprocess.run(["cogvault", "daemon", "--status"], env=environment, capture_output=True).returncode:
        assert time.monotonic() < end, "the daemon did not come up"


@pytest.fixture
def claude(programs: Path, user: Mapping[str, str], model: Model, example_vault: Path) -> Iterator[Any]:
    """Runs Claude Code as somebody who installed the plugin, with a daemon."""
    environment = {
        **user,
        "COGVAULT_TENANT": str(example_vault),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
        "ANTHROPIC_API_KEY": "made-up",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",  # all tools are told from the start
        "MCP_CONNECTION_NONBLOCKING": "0",
    }
    project = Path(user["HOME"]) / "project"
    project.mkdir()

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [programs / "claude", *arguments],
            env=environment,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    plugin = subprocess.run(["cogvault-mcp", "--plugin"], env=environment, capture_output=True, text=True, check=True)
    run("plugin", "validate", plugin.stdout.strip())
    run("plugin", "marketplace", "add", plugin.stdout.strip())
    run("plugin", "install", "cogvault@cogvault")
    daemon = subprocess.Popen(["cogvault", "daemon"], env=environment, stderr=subprocess.PIPE)
    try:
        wait_for_daemon(environment)
        yield run
    finally:
        daemon.terminate()
        daemon.communicate(timeout=SECONDS)


def test_the_plugin_brings_memory(claude: Any, model: Model, example_vault: Path) -> None:
    assert "Connected" in claude("mcp", "list")
    end = time.monotonic() + SECONDS
    while "Long-term memory (cogvault)" not in json.dumps(model.asked):
        assert time.monotonic() < end, "no session was told of memory"  # one is not when the machine is busy
        assert ANSWER in claude("-p", PROMPT)
    assert "cogvault:remember" in json.dumps(model.asked)
    # Claude Code does not wait for the hook of its end, which goes on by itself.
    while ANSWER not in (kept := said(example_vault)):
        assert time.monotonic() < end, kept
    assert PROMPT in kept
    model.query = "background jobs in PostgreSQL"
    claude("-p", PROMPT, "--allowedTools", TOOL)
    (told,) = set(results(model.asked))
    data = json.loads(told)  # it gives the data in place of the text
    marked = MARKED.search(data["text"])
    assert marked
    assert "612 queued jobs" in marked[0]
    assert told.count("612 queued jobs") == 1


def said(vault: Path) -> str:
    """All that the vault's sessions hold."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted((vault / "session").rglob("*.md")))
